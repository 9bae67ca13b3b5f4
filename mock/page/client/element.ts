/** What stands in an element: other elements, or text, which is never read as markup. */
export type Content = Node | string | undefined;

/**
 * Makes an element.
 *
 * @param attributes an undefined value leaves the attribute out
 */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | undefined>> = {},
  ...contents: readonly Content[]
): HTMLElement {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes))
    if (value !== undefined) made.setAttribute(attribute, value);
  made.append(...contents.filter((content) => content !== undefined));
  return made;
}

/** The element of the page with an id. */
export function byId(id: string): HTMLElement {
  return document.getElementById(id)!;
}

/** The field of the page with an id. */
export function fieldById(id: string): HTMLInputElement {
  return byId(id) as HTMLInputElement;
}

/** A button that does something to the thing with an id; `about` tells those who do not see the row. */
export function button(does: string, id: string, text: string, about: string): HTMLElement {
  const unseen = element('span', { class: 'unseen' }, ` ${about}`);
  return element('button', { type: 'button', 'data-do': does, 'data-id': id }, text, unseen);
}
