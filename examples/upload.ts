/**
 * Uploads that stream to disk. A file of any size needs the memory of one piece of it; one that is too large is a 413; and
 * when the client leaves in the middle, the partial file is removed. Run `node examples/upload.ts`, then
 * `curl --upload-file photo.jpg localhost:8080/files/photo.jpg`.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Path, Returns, bodyStream, param, put } from "usher-http";
import { serve } from "usher-http/node";
import * as v from "valibot";

const { PORT = "8080", UPLOADS = "uploads", MAX_BYTES = "104857600" } = process.env;

// Not a path: no slash, and no dot at its start.
const FileName = v.pipe(v.string(), v.regex(/^\w[\w.-]{0,99}$/, "This must be letters, digits, dots, - and _."));
const fileName = Path.param("name", FileName);

const Stored = v.object({ name: FileName, bytes: v.number(), sha256: v.string() });

const upload = put(
  Path.of("files", fileName),
  {
    summary: "Store a file",
    inputs: { name: param(fileName), content: bodyStream({ max: Number(MAX_BYTES) }) },
    returns: Returns.json(Stored, { status: 201 }),
  },
  async ({ name, content }) => {
    // Each upload writes a file of its own, so that two at once do not mix, and readers never see half a file.
    const partial = join(UPLOADS, `.${randomUUID()}.partial`);
    const hash = createHash("sha256");
    let bytes = 0;
    // Open before anything can fail: a stream that opens it by itself may make the file after it was removed.
    const file = await open(partial, "wx");
    try {
      await pipeline(
        content,
        async function* (parts: AsyncIterable<Uint8Array>) {
          for await (const part of parts) {
            hash.update(part);
            bytes += part.byteLength;
            yield part;
          }
        },
        file.createWriteStream(),
      );
      await rename(partial, join(UPLOADS, name));
      return { name, bytes, sha256: hash.digest("hex") };
    } finally {
      await rm(partial, { force: true });
    }
  },
);

await mkdir(UPLOADS, { recursive: true });
await serve([upload], { port: Number(PORT) });
