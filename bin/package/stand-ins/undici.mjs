// For the bundle: the pool alone, and of it what dispatches. What else there is (fetch, WebSocket, caches,
// mocks, ways of reading a body) would be three quarters of the code to load.
export { default as Pool } from 'undici/lib/dispatcher/pool.js';
