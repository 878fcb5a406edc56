/** The entry `usher-http/files` where the condition `workerd` holds: Workers have no file system. */
import { assets } from "./assets.ts";
import { bundle } from "./bundle.ts";
import type * as OnDisk from "./files.ts";

/** The namespace `Files`. What needs a file system throws a sentence. */
export const Files: typeof OnDisk = {
  assets,
  bundle,
  directory: without("Files.directory"),
  answer: without("Files.answer"),
  read: without("Files.read"),
};

function without(caller: string): () => never {
  return () => {
    throw new Error(
      `${caller}: there is no file system here: use Files.assets, or Files.bundle of what usher bundle wrote`,
    );
  };
}
