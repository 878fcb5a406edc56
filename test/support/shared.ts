/**
 * The test files that share processes, each of which loads the sources once: those of the folders that start no runtime.
 * Every other file has a process of its own, as it does where what the file before left behind would be counted.
 */
const folders =
  "answers|app|client|codecs|database|events|http|inputs|openapi|routing|schema|security|server|sockets|testing";

export const notShared: readonly string[] = [
  // They change what all share: methods of classes, what is global.
  "test/**/last-net.test.ts",
  "test/app/broken-surroundings.test.ts",
  // It reads the default destination of lines, which a listener replaces.
  "test/testing/quiet.test.ts",
  // They count the sockets or bytes of the process (`memory.ts`).
  "test/events/bounds-again.test.ts",
  "test/security/{rate,session}-model.test.ts",
];

export const shared: readonly string[] = ["test/*.test.ts", `test/@(${folders})/**/*.test.ts`];
export const alone: readonly string[] = [`test/!(${folders})/**/*.test.ts`, ...notShared];
