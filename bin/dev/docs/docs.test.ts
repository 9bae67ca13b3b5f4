import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import manifest from '../../../package.json' with { type: 'json' };
import { reportFormats } from '../../../reports/document.ts';
import { markdownNodes, textOf, parsePage, slugOf } from '../../../reports/testing/parsers.ts';
import { endpoints } from '../../../schemas/endpoints.ts';
import { clauses } from '../../../schemas/generated/interface.ts';
import type { Fixture } from '../../../schemas/generated/types.ts';
import { catalogue } from '../../../suites/index.ts';
import { exitCodes } from '../../exit-codes.ts';
import { tablesOf, type Table } from '../../fixture/export.ts';
import { builtIn } from '../testing/fixtures.ts';
import { rules } from '../../sweep/rules.ts';
import { states } from '../../sweep/states.ts';
import { root } from '../paths.ts';
import { pages } from './pages.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const guides = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const reference = readdirSync(join(root, 'docs/reference'));
const files = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'schemas/interface.md',
  ...guides.map((name) => `docs/${name}`),
  ...reference.map((name) => `docs/reference/${name}`),
];

/** Returns the lines of a page, without white space around table cells. */
const linesOf = (file: string) =>
  read(file)
    .split('\n')
    .map((line) => line.replace(/\s*\|\s*/g, '|').trim());

test('the docs list every exit code, every report format and every state of a sweep', () => {
  const ofVerify = linesOf('docs/verify.md').join('\n');
  for (const [code, meaning] of Object.values(exitCodes))
    assert.ok(ofVerify.includes(`\n|${code}|${meaning}|\n`), meaning);
  for (const name of reportFormats) assert.ok(ofVerify.includes(`\n|\`${name}\`|`), name);
  const ofSweep = linesOf('docs/sweep.md').join('\n');
  for (const [id, { kind }] of states)
    assert.match(ofSweep, new RegExp(`\\|[^|]*\`${id}\`[^|]*\\|${kind}\\|`));
});

test('the docs list the keys of the built-in fixture, an id of each state, and the counts', () => {
  const { apiKeys = [], users = [], deposits = [] } = builtIn;
  const page = read('docs/mock.md');
  const owners = new Map(users.map(({ user_id, partner }) => [user_id, partner]));
  // All foreign deposits get the same answer, so their state does not matter.
  const stateOf = (deposit: NonNullable<Fixture['deposits']>[number]) => {
    const owner = owners.get(deposit.user_id) ?? 'no IB';
    const { becomes = {} } = deposit.state === 'pending' ? deposit : {};
    return owner === 'northwind' ? `${deposit.state}, becomes ${Object.keys(becomes).join()}` : `of ${owner}`;
  };
  const all = [
    ...apiKeys.map(({ key }) => [`key ${key}`, key]),
    ...users.map(({ user_id, partner }) => [`user of ${partner ?? 'no IB'}`, user_id]),
    ...deposits.map((deposit) => [`deposit ${stateOf(deposit)}`, deposit.reference_id]),
  ] as const;
  const listed = new Set(all.flatMap(([state, id]) => (page.includes(`\`${id}\``) ? [state] : [])));
  for (const [state] of all) assert.ok(listed.has(state), state);
  assert.ok(page.includes(`${users.length} users and ${deposits.length} deposits`));
});

test('the guide on data lists the tables and columns, without those of transitions', () => {
  const rows = [...read('docs/fixture.md').matchAll(/^\| `(\w+)` +\| (.*?) +\|$/gm)];
  const listed = rows.map(([, name, columns]) => [name, columns!.match(/(?<=`)\w+(?=`)/g)]);
  const columnsOf = ({ name, columns }: Table) => {
    const names = columns.map((column) => column.name);
    return [name, names.filter((column) => !column.startsWith('becomes_'))];
  };
  assert.deepEqual(listed.slice(0, 4), tablesOf({}).map(columnsOf));
});

test('every code block of the README and of the docs is checked', () => {
  for (const file of files.filter((name) => name === 'README.md' || name.startsWith('docs/')))
    assert.equal(pages[file]?.length ?? 0, parsePage(read(file)).blocks.length, file);
});

test('the README links to every guide, directly or by one other page', () => {
  const linked = (file: string) =>
    parsePage(read(file)).links.map((link) => join(dirname(file), link.split('#')[0]!));
  const near = linked('README.md').filter((file) => files.includes(file));
  const reachable = new Set([...near, ...near.flatMap(linked)]);
  for (const name of guides) assert.ok(reachable.has(`docs/${name}`), name);
});

const wordsIn = (text: string) => text.match(/\S+/g)?.length ?? 0;
const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

test('guides have at most 100 lines, sentences at most 30 words and 20 on average', () => {
  for (const file of files.filter((name) => !/CHANGELOG|reference/.test(name))) {
    const most = file.startsWith('docs/') ? 100 : file.startsWith('schemas/') ? 180 : 130;
    assert.ok(read(file).split('\n').length <= most + 1, `${file} is too long`);
    // Code counts as one word. In upper case it may start a sentence.
    const text = read(file).replace(/`[^`\n]+`/g, 'CODE');
    const paragraphs = markdownNodes(text).filter(({ type }) => type === 'Paragraph');
    const lengths = paragraphs.flatMap((one) =>
      Array.from(sentences.segment(textOf(one).replaceAll('\n', ' ')), ({ segment }) => wordsIn(segment)),
    );
    const average = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
    assert.ok(average <= 20, `${file}: ${average.toFixed(1)} words on average`);
    assert.ok(Math.max(...lengths) <= 30, `${file}: a sentence of ${Math.max(...lengths)} words`);
  }
});

test('each clause that is cited stands in the interface, and each that stands there is cited', () => {
  const cited = [...catalogue, ...rules].flatMap(({ clause }) => clause.split('; '));
  const sections = read('schemas/interface.md').match(/(?<=^### ).+/gm)!;
  assert.deepEqual(
    [...new Set(cited)].filter((name) => !name.startsWith('RFC ')).toSorted(),
    sections.toSorted(),
  );
  assert.deepEqual(Object.keys(clauses), sections);
});

test('the interface says what the data of the endpoints say, and nothing else', () => {
  for (const [name, { path, parameter, messages }] of Object.entries(endpoints)) {
    assert.ok(read('schemas/interface.md').includes(`\n## GET {base_url}${path}\n`), path);
    assert.ok(clauses[`GET ${name}, ${parameter}`]!.includes(`\`${parameter}\``), parameter);
    const stated = Object.entries(clauses).flatMap(([clause, text]) => {
      const [, status] = new RegExp(`^GET ${name}, (\\d+)$`).exec(clause) ?? [];
      const [, body] = /^`(\{.+?\})`/.exec(text) ?? [];
      return status === undefined || body === undefined ? [] : [[status, JSON.parse(body) as unknown]];
    });
    const ours = Object.entries(messages).map(([status, error]) => [status, { error }]);
    assert.deepEqual(stated, ours);
  }
});

test('links in the docs have existing targets', () => {
  const anchors = new Map(files.map((file) => [file, new Set(parsePage(read(file)).headings.map(slugOf))]));
  for (const file of files)
    for (const link of parsePage(read(file)).links.filter((one) => !/^https?:/.test(one))) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : normalize(join(dirname(file), path));
      assert.ok(existsSync(join(root, target)), `${file}: ${link}`);
      if (anchor !== undefined) assert.ok(anchors.get(target)?.has(anchor), `${file}: ${link}`);
    }
});

test('CONTRIBUTING and the docs name existing files', () => {
  const ours = /[`"]((?:\.ci|action|bin|docs|mock|reports|schemas|suites)\/[\w./-]*)(?:`|<br>)/g;
  for (const file of files.filter((name) => name !== 'CHANGELOG.md'))
    for (const [, path] of read(file).matchAll(ours))
      assert.ok(existsSync(join(root, path!)), `${file}: ${path}`);
});

test('CONTRIBUTING has a reason for each dependency and no others', () => {
  assert.ok(!('dependencies' in manifest), 'the package has no runtime dependencies');
  const [, part = ''] = /^## Dependencies$(.*?)^## /ms.exec(read('CONTRIBUTING.md')) ?? [];
  const reasons = [...part.matchAll(/^\| (.*?) +\| (.*?) +\|$/gm)].slice(1);
  const named = reasons.flatMap(([, names = '', why = '']) => (why === '' ? [] : names.split(', ')));
  const found = named.filter((name) => !/^-+$/.test(name));
  assert.deepEqual(found.toSorted(), Object.keys(manifest.devDependencies).toSorted());
});

test('anchors are the same as on GitHub', () => {
  assert.equal(slugOf('valid/user-status/date-joined'), 'validuser-statusdate-joined');
  assert.equal(slugOf('1. Say what is true of your server'), '1-say-what-is-true-of-your-server');
});
