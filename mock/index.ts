export { createMock, type InProcessMock, type InProcessOptions } from './in-process.ts';
export { startMock, type Mock, type MockOptions } from './server.ts';
