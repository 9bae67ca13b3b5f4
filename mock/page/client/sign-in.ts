import { useToken } from './admin.ts';
import { byId, fieldById } from './element.ts';

/** Shows the data, or asks for the token first. */
export function showMain(isOpen: boolean): void {
  byId('main').hidden = !isOpen;
  byId('world-controls').hidden = !isOpen;
  byId('parts').hidden = !isOpen;
  byId('sign-in').hidden = isOpen;
}

/** Asks for the token; `open` is called with each one that is given. */
export function askForToken(open: () => void, problem: string): void {
  showMain(false);
  byId('connection').textContent = 'Waiting for the token';
  const field = fieldById('token');
  byId('sign-in-error').textContent = problem;
  const onSubmit = (event: Event) => {
    event.preventDefault();
    useToken(field.value.trim());
    field.value = '';
    open();
  };
  byId('token-form').addEventListener('submit', onSubmit, { once: true });
  field.focus();
}
