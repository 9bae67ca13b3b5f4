import type { RecordedExchange } from '../../schemas/generated/types.ts';
import { redactorOf, type Redact } from '../../schemas/redact.ts';
import type { Known } from '../known.ts';
import type { Exchange } from '../requirement.ts';
import type { Request } from '../request.ts';
import { secretsInHeaders } from './secret-headers.ts';

/** Bodies are recorded up to this many characters. */
const MOST_BODY = 2000;

/**
 * Writes down a exchange as evidence. The key stands as $IB_API_KEY in the request, and by its name
 * anywhere else.
 */
export function recordExchange({ request, reply }: Exchange, base: string, redact: Redact): RecordedExchange {
  const { credential } = request;
  const key = credential.as === 'key' || credential.as === 'header' ? credential.key : request.misplaced;
  const variable = (text: string) => redact(withVariable(text, request, '$IB_API_KEY'));
  const authorization = shellCredential(request);
  const headers = Object.entries(request.headers).map(([name, value]) => [name, variable(value)] as const);
  return {
    request: {
      method: request.method,
      target: variable(request.target),
      headers: Object.fromEntries([
        ...(authorization === undefined ? [] : [['authorization', authorization] as const]),
        ...headers,
      ]),
      ...(request.body === undefined ? {} : { body: variable(request.body) }),
    },
    ...(reply.kind === 'trouble'
      ? { trouble: redact(reply.words) }
      : {
          response: {
            status: reply.status,
            headers: Object.fromEntries(
              Object.entries(reply.headers).map(([name, values]) => [
                redact(name),
                redact(values.join(', ')),
              ]),
            ),
            body: redact(reply.text).slice(0, MOST_BODY),
          },
        }),
    curl: redact(curl(request, base)),
    ...(key === undefined ? {} : { key: key.name }),
  };
}

/**
 * A function that puts the name of each key in the place of its value, and does so with the secrets
 * in headers that are sent with every request.
 */
export function redactor(
  { everyKey }: Pick<Known, 'everyKey'>,
  headers: Readonly<Record<string, string>> = {},
): Redact {
  return redactorOf([
    ...everyKey.map(({ key, name, partner }) => ({ value: key, name, owner: partner })),
    ...secretsInHeaders(headers),
  ]);
}

/** The request as a command line that needs $IB_API_KEY in its environment. */
function curl(request: Request, base: string): string {
  const { method, target, headers, body } = request;
  const quote = (text: string) => `"${withVariable(inQuotes(text), request, undefined, inQuotes)}"`;
  const authorization = shellCredential(request);
  return [
    'curl -gi --path-as-is',
    ...(method === 'GET' ? [] : [method === 'HEAD' ? '--head' : `-X ${method}`]),
    ...(authorization === undefined ? [] : [`-H "Authorization: ${authorization}"`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [...(method === 'GET' ? ['-X GET'] : []), `--data-binary ${quote(body)}`]),
    quote(base.replace(/\/+$/, '') + target),
  ].join(' ');
}

function shellCredential({ credential }: Request): string | undefined {
  switch (credential.as) {
    case 'key':
      return `${credential.scheme ?? 'Bearer'} $IB_API_KEY`;
    case 'caller':
      return 'Bearer $IB_API_KEY';
    case 'header':
      return credential.shell;
    case 'none':
      return undefined;
  }
}

/** How a key stands in a text, and what writes it so in a shell. */
const forms: readonly { readonly write: (key: string) => string; readonly shell: string }[] = [
  { write: (key) => key, shell: '$IB_API_KEY' },
  { write: encodeURIComponent, shell: "$(node -p 'encodeURIComponent(process.env.IB_API_KEY)')" },
  {
    write: (key) => JSON.stringify(key).slice(1, -1),
    shell: "$(node -p 'JSON.stringify(process.env.IB_API_KEY).slice(1, -1)')",
  },
];

/** Every way in which a key may stand in a text, once each. */
const writtenForms = (key: string) =>
  [...new Map(forms.toReversed().map(({ write, shell }) => [write(key), shell] as const))].toSorted(
    ([one], [other]) => other.length - one.length,
  );

/** A misplaced key is found again in the text of the request, in whatever form it stands there. */
function withVariable(
  text: string,
  { misplaced }: Request,
  variable: string | undefined,
  quoted = (value: string) => value,
): string {
  if (misplaced === undefined) return text;
  return writtenForms(misplaced.key).reduce(
    (clean, [written, shell]) => clean.replaceAll(quoted(written), () => variable ?? shell),
    text,
  );
}

const inQuotes = (text: string) => text.replace(/[\\"$`]/g, String.raw`\$&`);
