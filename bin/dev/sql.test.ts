/** Loads the SQL of `fixture` into database servers, and reads it back. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { readFixture } from '../../schemas/fixture.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { sqlOf, tablesOf } from '../fixture/export.ts';
import { generatedFixture } from '../fixture/generate.ts';
import { temporaryFolder } from './testing/temporary-folder.ts';
import { skipWithout } from './skip-without.ts';

const { folder, place } = temporaryFolder();
// PostgreSQL refuses root. In Debian, this is nobody.
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
if (user !== undefined) chownSync(folder, user.uid, user.gid);
// Neither the time zone nor the encoding of a user may matter.
const env = { PATH: process.env['PATH'], PGTZ: '<+05>-5', LC_ALL: 'C' };
const options = { ...user, cwd: folder, env };

type Command = readonly [program: string, ...args: string[]];

/** Runs a command with this standard input. Returns its output. */
function run([program, ...args]: Command, input = ''): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { ...options, input, encoding: 'utf8' });
  assert.equal(status, 0, `${program} ${args.join(' ')}: ${stderr || stdout || error}`);
  return stdout;
}

interface Server {
  /** A file that is there if the Debian package is. */
  readonly program: string;
  /** Starts the server on a Unix socket, with an empty database. It ends with the test. */
  readonly start: (t: TestContext) => void;
  /** Runs the SQL of its standard input, up to the first mistake. */
  readonly client: Command;
  /** The function that makes a JSON array. */
  readonly array: string;
}

const versions = '/usr/lib/postgresql';
const [version] = existsSync(versions) ? readdirSync(versions).toSorted((a, b) => +b - +a) : [];
const postgresql = (name: string) => `${versions}/${version}/bin/${name}`;
const control = [postgresql('pg_ctl'), '--pgdata=pg', '--log=pg.log'] as const;
const mariadbd = '/usr/sbin/mariadbd';
const mariadb = ['--no-defaults', `--socket=${place('mariadb')}`] as const;

/** By Debian package. */
const servers: Readonly<Record<string, Server>> = {
  postgresql: {
    program: postgresql('postgres'),
    start: (t) => {
      run([postgresql('initdb'), '--pgdata=pg', '--no-sync', '--auth=trust', '--username=test']);
      t.after(() => run([...control, '--mode=immediate', 'stop']));
      run([...control, `--options=-k ${folder} -c listen_addresses= -c fsync=off`, 'start']);
    },
    client: ['psql', '-XqAtv', 'ON_ERROR_STOP=1', '-h', folder, '-U', 'test', 'postgres'],
    array: 'json_build_array',
  },
  'mariadb-server': {
    program: mariadbd,
    start: (t) => {
      const data = `--datadir=${place('data')}`;
      run(['mariadb-install-db', '--no-defaults', data, '--auth-root-authentication-method=normal']);
      const more = [data, '--skip-networking', '--default-time-zone=+05:00'];
      const server = spawn(mariadbd, [...mariadb, ...more], { ...options, stdio: 'ignore' });
      const ended = once(server, 'exit');
      t.after(() => server.kill() && ended);
      run(['mariadb-admin', ...mariadb, '--user=root', '--wait=30', 'create', 'service']);
    },
    client: ['mariadb', ...mariadb, '--user=root', '--batch', '--raw', '--skip-column-names', 'service'],
    array: 'JSON_ARRAY',
  },
};

const generated = (cents: boolean) => {
  const amount = { users: 1000, deposits: 1000, partners: 3, cents };
  return readFixture([...generatedFixture(amount, 2, 'staying')].join(''), 'generated', {});
};

const id = (nth: number) => `aaaaaaaa-aaaa-4aaa-8aaa-00000000000${nth}`;
/** They differ in letter case, a space or an accent, and have characters that need an escape. */
const names = [`O'B\\n"\\`, `o'b\\n"\\`, `o'b\\n"\\ `, 'été 🦀 \n\t-- /*! */', 'ete 🦀 \n\t-- /*! */'];
const keys = [`a'\\"/*!'--`, `A'\\"/*!'--`, 'k'.repeat(3000)];
const hostile: Fixture = {
  apiKeys: keys.map((key) => ({ key, partner: null, state: 'active' })),
  users: names.map((partner, at) => ({
    user_id: id(at),
    partner,
    date_joined: `${at + 1900}-12-31T23:59:59.5Z`,
  })),
  deposits: [0, 5e-7, 1 / 3, 2 ** 53, 1e21].map((amountInUsd, at) => {
    const becomes = { state: 'EXECUTED', amountInUsd, executedAt: 2 ** 53 - 1, afterSeconds: 0.1 } as const;
    return { reference_id: id(at), user_id: id(at), state: 'pending', becomes };
  }),
};

/** By name: the data, whether it has whole cents only, and the prefix of tables. */
const cases = {
  'new data': [generated(false), false, ''],
  'whole cents, in a schema': [generated(true), true, 'ib.'],
  'hostile data, with a prefix': [hostile, false, 'ib.the_'],
} as const;

/** A row as JSON, with times in Unix ms. MariaDB's have no zone. */
const rowOf = (json: string) =>
  JSON.stringify(
    JSON.parse(json, (_, value: unknown) => {
      const [, date, time, zone = 'Z'] = /^(\d{4}-\d\d-\d\d)[ T]([\d:.]+)(\S+)?$/.exec(String(value)) ?? [];
      return date === undefined ? value : Date.parse(`${date}T${time}${zone}`);
    }),
  );

for (const [name, { program, start, client, array }] of Object.entries(servers))
  test(name, async (t) => {
    if (!existsSync(program)) return skipWithout(t, name);
    start(t);
    run(client, 'CREATE SCHEMA ib;');
    for (const [what, [fixture, hasCents, prefix]] of Object.entries(cases))
      await t.test(what, () => {
        const sql = [...sqlOf(tablesOf(fixture, hasCents), prefix)].join('');
        // A mistake at the end undoes all rows.
        assert.throws(() => run(client, sql.replace('\nCOMMIT', '\nMISTAKE')), /MISTAKE/);
        run(client, sql);
        assert.throws(() => run(client, sql), /duplicate/i);
        for (const table of tablesOf(fixture)) {
          const columns = table.columns.map((column) => `"${column.name}"`).join(', ');
          const query = `SELECT ${array}(${columns}) FROM ${prefix}${table.name};`;
          const quoted = `/*! SET NAMES utf8mb4 */; /*! SET sql_mode = ANSI_QUOTES */; ${query}`;
          const found = run(client, quoted).trim().split('\n').map(rowOf);
          const expected = new Set([...table.rows].map((row) => rowOf(JSON.stringify(row))));
          assert.deepEqual([found.length, found.filter((row) => !expected.has(row))], [expected.size, []]);
        }
      });
  });
