import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readCall } from './docker-call.ts';

const place = { folder: '/clone', env: { KEY: 'secret' } };
const read = (line: string) => readCall(line.split(' '), place);

const plain = {
  kind: 'run',
  image: 'image',
  command: [],
  mounts: [],
  environment: {},
  user: undefined,
  isOnHost: false,
  ports: [],
  health: undefined,
};

describe('a call of docker', () => {
  test('builds', () => {
    assert.deepEqual(read('build -t image .'), { kind: 'build', tag: 'image', context: '/clone' });
  });
  test('runs', () => {
    assert.deepEqual(read('run --rm --init --read-only --cap-drop ALL image'), plain);
    assert.deepEqual(
      read(
        'run -p 127.0.0.1:80:4010 -v /a:/b:ro -v /c:/d -e KEY --user 1:2 --network host image mock -p --x',
      ),
      {
        ...plain,
        command: ['mock', '-p', '--x'],
        mounts: [
          { from: '/a', to: '/b', isWritable: false },
          { from: '/c', to: '/d', isWritable: true },
        ],
        environment: { KEY: 'secret' },
        user: '1:2',
        isOnHost: true,
        ports: [{ address: '127.0.0.1', host: 80, container: 4010 }],
      },
    );
    assert.deepEqual(readCall(['run', '--health-cmd', 'a b', 'image'], place), {
      ...plain,
      health: ['a', 'b'],
    });
  });
  test('starts what compose has', () => {
    assert.deepEqual(read('compose up --build --exit-code-from partner'), {
      kind: 'compose',
      folder: '/clone',
      isBuilt: true,
      exitCodeFrom: 'partner',
    });
  });
  for (const [line, named] of [
    ['biuld .', /biuld/],
    ['compose down', /compose down/],
    ['build --tga image .', /--tga/],
    ['build .', /needs a tag/],
    ['build -t image . more', /one folder/],
    ['run --rmm image', /--rmm/],
    ['run --entrypoint sh image', /--entrypoint/],
    ['run --rm', /needs an image/],
    ['run --user image', /needs an image/],
    ['run -v fixture.json:/work image', /fixture\.json:\/work/],
    ['run -v /a:/b:rw image', /\/a:\/b:rw/],
    ['run -e OTHER image', /OTHER/],
    ['run --user me image', /--user me/],
    ['run --network hots image', /hots/],
    ['run -p 4010 image', /4010/],
    ['compose up --biuld', /--biuld/],
    ['compose up partner', /partner/],
  ] as const)
    test(`docker ${line} is refused by name`, () => {
      assert.throws(() => read(line), named);
    });
});
