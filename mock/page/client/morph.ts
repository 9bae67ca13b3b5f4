/**
 * Makes the children of an element what is wanted and leaves alone what is so already: focus,
 * selection and a click that is under way survive. Children with a `data-key` are known by it.
 */
export function morphChildren(parent: Element, wanted: readonly Node[]): void {
  const focused = document.activeElement;
  const row = focused !== null && parent.contains(focused) ? focused.closest('[data-key]') : null;
  arrange(parent, wanted);
  // What was focused is gone: who was there stays in its row.
  if (row?.isConnected && focused !== null && !focused.isConnected) (row as HTMLElement).focus();
}

function arrange(parent: Element, wanted: readonly Node[]): void {
  const known = new Map(Array.from(parent.children, (child) => [keyOf(child), child] as const));
  known.delete(undefined);
  let at: ChildNode | null = parent.firstChild;
  const keys = new Set(wanted.map(keyOf));
  for (const node of wanted) {
    // Those that are to go make no way for others, so that nothing that stays is moved.
    while (at !== null && keyOf(at) !== undefined && !keys.has(keyOf(at))) at = removed(at);
    const same = known.get(keyOf(node)) ?? (at !== null && areAlike(at, node) ? at : undefined);
    if (same === undefined) parent.insertBefore(node, at);
    else {
      if (same === at) at = at.nextSibling;
      else parent.insertBefore(same, at);
      morph(same, node);
    }
  }
  while (at !== null) at = removed(at);
}

function morph(from: Node, to: Node): void {
  if (from.isEqualNode(to)) return;
  if (!(from instanceof Element && to instanceof Element)) {
    from.nodeValue = to.nodeValue;
    return;
  }
  for (const name of from.getAttributeNames()) if (!to.hasAttribute(name)) from.removeAttribute(name);
  for (const name of to.getAttributeNames()) {
    const value = to.getAttribute(name) ?? '';
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  arrange(from, [...to.childNodes]);
}

const keyOf = (node: Node) => (node instanceof HTMLElement ? node.dataset['key'] : undefined);

const areAlike = (one: Node, other: Node) =>
  one.nodeName === other.nodeName && keyOf(one) === keyOf(other) && actionOf(one) === actionOf(other);

const actionOf = (node: Node) => (node instanceof HTMLElement ? node.dataset['do'] : undefined);

function removed(node: ChildNode): ChildNode | null {
  const next = node.nextSibling;
  node.remove();
  return next;
}
