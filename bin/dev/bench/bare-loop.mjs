/** The yardstick of the harness: a bare loop of undici that sends one lookup again and again. Arguments: URL, key, requests, connections. */
import { Pool } from 'undici';

const [url, key, requests, connections] = process.argv.slice(2);
const { origin, pathname, search } = new URL(url);
const pool = new Pool(origin, { connections: Number(connections) });
let left = Number(requests);

async function loop() {
  while (left-- > 0) {
    const { body } = await pool.request({
      method: 'GET',
      path: pathname + search,
      headers: { authorization: `Bearer ${key}` },
    });
    await body.text();
  }
}

await Promise.all(Array.from({ length: Number(connections) }, loop));
await pool.close();
