import { command } from './command.ts';
import { onOff } from './flags.ts';

export const requirements = command({
  usage: 'requirements',
  what: 'list what is checked',
  flags: {
    json: { ...onOff, describe: 'as JSON, for programs' },
    'by-clause': { ...onOff, describe: 'by the clauses of the interface' },
  },
  run: async ({ json, byClause }, { print }) => {
    const { listClauses, listRequirements, listRequirementsAsJson } = await import('../requirements.ts');
    await print(byClause ? listClauses() : json ? listRequirementsAsJson() : listRequirements());
    return 0;
  },
});
