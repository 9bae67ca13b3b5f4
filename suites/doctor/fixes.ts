const url = 'Correct the URL: /api/ib/user-status and /api/ib/deposit-check are appended to it';

/** How to fix a target that cannot be checked, by a pattern of what came. The first that fits counts. */
const fixes: Readonly<Record<string, string>> = {
  proxy: 'Correct HTTP_PROXY or HTTPS_PROXY, or name the host in NO_PROXY to go without a proxy.',
  'client certificate':
    'Give a certificate that the target accepts with --cert, and its key with --cert-key.',
  'does not resolve':
    'Correct the host in the URL, or check why this machine cannot resolve it (DNS, VPN, hosts file).',
  'was refused|no route|cannot be reached':
    'Start the server, correct the host and port of the URL, or open the port (firewall, container).',
  'plain HTTP': 'Use http://, or the port that serves HTTPS.',
  'expired|another name':
    'Renew the certificate, use the host name it is issued for, or skip the check with --insecure.',
  certificate: 'Give the certificate of its authority with --ca, or skip the check with --insecure.',
  'redirect to https:':
    'Redirects are never followed. Use the https URL it redirects to, or the URL behind the login page.',
  redirect: 'Redirects are never followed. Use the URL of the service itself, behind any login page.',
  'web page': `${url}. If a proxy answers, give the header it needs with --header.`,
  '404': `${url}. It may contain a path, such as https://api.example.com/gateway.`,
};

/**
 * @param words what came, or why nothing came
 * @returns how to fix it
 */
export function fixFor(words: string, { protocol }: URL): string {
  const [, fix] = Object.entries(fixes).find(([pattern]) => new RegExp(pattern).test(words)) ?? [];
  const orTls = protocol === 'http:' ? ' and whether it needs https://' : '';
  return (
    fix ?? `Check the port${orTls}, and that no firewall blocks it. --timeout waits longer for an answer.`
  );
}
