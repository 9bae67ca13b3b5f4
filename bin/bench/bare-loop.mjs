/** The yardstick of the harness: the same requests by a bare loop. Arguments: origin, file of requests, connections. */
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

const [origin, file, connections] = process.argv.slice(2);
const { headers, requests } = JSON.parse(readFileSync(file, 'utf8'));
const pool = new Pool(origin, { connections: Number(connections) });
let next = 0;

async function loop() {
  while (next < requests.length) {
    const [method, path, which, body] = requests[next++];
    const answer = await pool.request({ origin, path, method, headers: headers[which], body });
    await answer.body.text();
  }
}

await Promise.all(Array.from({ length: Number(connections) }, loop));
await pool.close();
