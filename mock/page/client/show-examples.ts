import type { Answers } from './answers.ts';
import { curlOf, serviceAt } from './curl.ts';
import { element } from './element.ts';
import { model } from './model.ts';

/** A curl line for each state that the fixture can show. */
export function examples({ port, values }: Answers['magic-values']): readonly HTMLElement[] {
  const base = serviceAt(location, port);
  return values.map((example) => {
    const { shows, key, keyName } = example;
    const line = curlOf(example, base, model.world);
    return element(
      'li',
      { 'data-key': shows, tabindex: '-1' },
      element('span', {}, shows, key === undefined ? element('small', {}, `with ${keyName}`) : undefined),
      element('code', {}, line),
      element(
        'button',
        { type: 'button', 'data-do': 'copy', 'data-id': shows },
        model.copied === shows ? 'Copied' : 'Copy',
        element('span', { class: 'unseen' }, ` the line for ${shows}`),
      ),
    );
  });
}
