import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { validate } from 'dockerfile-utils';
import { root } from '../dev/paths.ts';
import { allowed } from './context.ts';
import { configOf, dockerfile, stagesOf, stepsOf, type Stage } from './dockerfile.ts';
import { page } from './page.ts';

const last = (stages: readonly Stage[]) => stages.at(-1)!;
const words = (stages: readonly Stage[], keyword: string) =>
  stages.flatMap((stage) => stepsOf(stage, keyword).map(({ text }) => text));

/** What linters of Dockerfiles ask for, each with a change of ours that it must find. */
const rules: readonly {
  readonly rule: string;
  readonly holds: (stages: readonly Stage[]) => boolean;
  readonly spoilt: readonly [from: string | RegExp, to: string];
}[] = [
  {
    rule: 'every stage begins with a tag, and none with latest',
    holds: (stages) => stages.every(({ from }) => /:(?!latest)\w/.test(from)),
    spoilt: [':${NODE_VERSION}-alpine', ''],
  },
  {
    rule: 'the user is not root, and a number',
    holds: (stages) => /^[1-9]\d*:[1-9]\d*$/.test(configOf(last(stages)).user),
    spoilt: ['USER 1000:1000', 'USER 0:0'],
  },
  {
    rule: 'commands are written as JSON, so that no shell stands between them and signals',
    holds: (stages) =>
      ['ENTRYPOINT', 'CMD', 'HEALTHCHECK'].every((keyword) =>
        stepsOf(last(stages), keyword).every(({ json }) => json !== undefined),
      ),
    spoilt: ['ENTRYPOINT ["ib-conformance"]', 'ENTRYPOINT ib-conformance'],
  },
  {
    rule: 'nothing is fetched but by npm ci',
    holds: (stages) =>
      words(stages, 'ADD').length === 0 &&
      words(stages, 'RUN').every((command) => !/\b(?:curl|wget|apk|apt|apt-get|npx)\b/.test(command)),
    spoilt: ['COPY . .', 'RUN wget -qO- http://example.com | sh'],
  },
  {
    rule: 'what is installed with npm comes of the lock file, or of this checkout',
    holds: (stages) =>
      words(stages, 'RUN').every(
        (command) => !/npm (?:i|install)\b/.test(command) || command.includes(' --offline '),
      ),
    spoilt: ['--offline ', ''],
  },
  {
    rule: 'folders are absolute',
    holds: (stages) => words(stages, 'WORKDIR').every((folder) => folder.startsWith('/')),
    spoilt: ['WORKDIR /work', 'WORKDIR work'],
  },
  {
    rule: 'the image itself runs nothing while it is made: it holds what the stage before made',
    holds: (stages) => words([last(stages)], 'RUN').length === 0,
    spoilt: ['EXPOSE 4010', 'RUN npm install'],
  },
  {
    rule: 'what can be copied is what the context holds',
    holds: (stages) =>
      stages
        .flatMap((stage) => stepsOf(stage, 'COPY'))
        .filter(({ flags }) => flags['from'] === undefined)
        .flatMap(({ text }) => text.split(/\s+/).slice(0, -1))
        .every((name) => name === '.' || allowed().includes(name)),
    spoilt: ['COPY . .', 'COPY docs .'],
  },
  {
    rule: 'the version is the one of the package',
    holds: (stages) => words([last(stages)], 'ARG').includes(`VERSION=${manifest.version}`),
    spoilt: [/ARG VERSION=.*/, 'ARG VERSION=0.0.0'],
  },
  {
    rule: 'the port that is exposed is the one that the mock and its health check have by default',
    holds: (stages) => words([last(stages)], 'EXPOSE').join() === '4010',
    spoilt: ['EXPOSE 4010', 'EXPOSE 8080'],
  },
  {
    rule: 'the labels say what the package says of itself, and what it was built of',
    holds: (stages) =>
      isDeepStrictEqual(labelsOf(last(stages)), {
        title: manifest.name,
        description: manifest.description,
        licenses: manifest.license,
        version: '${VERSION}',
        revision: '${REVISION}',
        created: '${CREATED}',
      }),
    spoilt: ['licenses="MIT"', 'licenses="ISC"'],
  },
  {
    // The check asks twice at most, and gives up on each question after 2 s.
    rule: 'what waits for health learns of it soon, and a check may take as long as it does',
    holds: (stages) => {
      const [{ flags } = assert.fail()] = stepsOf(last(stages), 'HEALTHCHECK');
      const seconds = (name: string) =>
        parseFloat(flags[name] ?? '') / (flags[name]?.endsWith('ms') === true ? 1000 : 1);
      return seconds('start-interval') <= 1 && seconds('interval') <= 30 && seconds('timeout') >= 4;
    },
    spoilt: ['--start-interval=500ms ', ''],
  },
  {
    rule: 'it is stopped by the signal that the page names',
    holds: (stages) => configOf(last(stages)).stopSignal === 'SIGTERM',
    spoilt: ['STOPSIGNAL SIGTERM', 'STOPSIGNAL SIGINT'],
  },
];

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Readonly<
  Record<'name' | 'description' | 'license' | 'version', string>
>;

/** By the last part of their names. */
const labelsOf = (stage: Stage) =>
  Object.fromEntries(
    words([stage], 'LABEL').flatMap((text) =>
      [...text.matchAll(/org\.opencontainers\.image\.(\w+)="([^"]*)"/g)].map(([, name, value]) => [
        name,
        value,
      ]),
    ),
  );

describe('the Dockerfile', () => {
  test('is well-formed', () => {
    assert.deepEqual(validate(dockerfile), []);
    assert.notDeepEqual(validate(dockerfile.replace('EXPOSE 4010', 'EXPOSE')), []);
  });
  for (const { rule, holds, spoilt } of rules)
    test(rule, () => {
      assert.ok(holds(stagesOf(dockerfile)));
      const other = dockerfile.replace(...spoilt);
      assert.notEqual(other, dockerfile);
      assert.ok(!holds(stagesOf(other)), 'and it would be seen if it were otherwise');
    });
});

describe('the page on containers', () => {
  const rows = page.matchAll(/^\| `(\w+)` +\|.*\| (.+?) +\|$/gm);
  const { user, folder, command } = configOf(last(stagesOf(dockerfile)));

  test('names each build argument with its default', () => {
    const named = [...rows].map(([, name, text]) => `${name}=${text!.replaceAll('`', '')}`);
    const written = [...dockerfile.matchAll(/^ARG (.*)$/gm)].map(([, text]) =>
      text!.replace(`=${manifest.version}`, '=that of package.json'),
    );
    assert.deepEqual(named, written);
  });

  test('names the default command, the user and the folder', () => {
    assert.ok(page.includes(`\`${command.join(' ')}\``));
    assert.ok(page.includes(`It works in \`${folder}\``));
    assert.match(page, new RegExp(`user of the container, ${user.split(':')[0]}\\s`));
  });
});

describe('.dockerignore', () => {
  test('lets through what there is', () => {
    for (const name of allowed()) assert.ok(existsSync(join(root, name)), name);
  });
  test('is refused where it lets through more than names at the top', () => {
    for (const text of ['!bin', '*\nbin', '*\n!bin/**', '*\n!*'])
      assert.throws(() => allowed(text), /first rule/);
  });
});
