import { validateXML } from 'xmllint-wasm';

/**
 * What libxml2 finds wrong with XML documents, a line each; for tests.
 *
 * @param schema an XML Schema that they must be valid against; without it they need only be well-formed
 */
export async function xmlErrors(documents: readonly string[], schema?: string): Promise<readonly string[]> {
  const xml = documents.map((contents, at) => ({ fileName: `${at}.xml`, contents }));
  const { valid, errors, rawOutput } = await validateXML(
    schema === undefined ? { xml, normalization: 'c14n' } : { xml, schema: [schema] },
  );
  if (valid) return [];
  return errors.length > 0 ? errors.map(({ rawMessage }) => rawMessage) : [rawOutput];
}
