// A new thread has to register tsx again.
import { register } from 'tsx/esm/api';

register();
await import('./self-test.ts');
