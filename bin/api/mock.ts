export {
  createMock,
  startMock,
  type InProcessMock,
  type InProcessOptions,
  type Mock,
  type MockOptions,
} from '../../mock/index.ts';
export type { Fixture } from '../../schemas/generated/types.ts';
