export {
  createCheckedMock as createMock,
  startCheckedMock as startMock,
  type CheckedInProcessOptions as InProcessOptions,
  type CheckedMock as Mock,
  type CheckedMockOptions as MockOptions,
} from './checked.ts';
export type { InProcessMock } from './in-process.ts';
