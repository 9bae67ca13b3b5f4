// For the bundle: the pool alone, put together as undici's own entry does it. What else is there
// (fetch, WebSocket, caches, mocks) would be three quarters of the code to load.
import request from 'undici/lib/api/index.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import Pool from 'undici/lib/dispatcher/pool.js';

Object.assign(Dispatcher.prototype, request);

export { Pool };
