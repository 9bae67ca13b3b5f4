// A thread of its own needs tsx registered again.
import { register } from 'tsx/esm/api';

register();
await import('./self-test.ts');
