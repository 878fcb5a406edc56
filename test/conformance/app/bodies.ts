/** Routes that read bytes: a whole body, a stream, and multipart parts (rows BS, MP, BD). */
import { Body, Codec, Dep, Header, Path, Returns, body, bodyStream, multipart, post } from "usher-http";
import type { Route } from "usher-http";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const upper = Dep.ofBody({ contentTypes: ["text/*"] }, (bytes) => text(bytes).toUpperCase());

const streamed: readonly Route[] = [
  post(
    Path.of("upload"),
    {
      inputs: { upload: bodyStream({ max: 200_000, contentTypes: ["application/octet-stream"] }) },
      returns: Returns.text,
    },
    async ({ upload }) => {
      let bytes = 0;
      let most = 0;
      for await (const part of upload) {
        bytes += part.byteLength;
        most = Math.max(most, part.byteLength);
      }
      return `${bytes} bytes${most > 65_536 ? ", in parts that are too long" : ""}`;
    },
  ),
  post(
    Path.of("images"),
    {
      inputs: { upload: bodyStream({ max: 1000, contentTypes: ["image/*", "application/*+json", "text/csv"] }) },
      returns: Returns.text,
    },
    async ({ upload }) => {
      const first = await upload.read();
      if (!first.ok) return Body.refusal(first.error);
      return first.value === undefined ? "nothing" : text(first.value);
    },
  ),
  post(
    Path.of("any"),
    { inputs: { upload: bodyStream({ max: 1_000_000 }) }, returns: Returns.text },
    async ({ upload }) => {
      let bytes = 0;
      for await (const part of upload) bytes += part.byteLength;
      return `${bytes} bytes`;
    },
  ),
  post(Path.of("parts"), { inputs: { upload: multipart({ max: 400 }) }, returns: Returns.text }, async ({ upload }) => {
    const seen: string[] = [];
    for await (const part of upload) {
      if (part.name === "skip") continue;
      let content = "";
      for await (const piece of part) content += text(piece);
      const { type, subtype } = part.contentType;
      seen.push(`${part.name}|${part.filename ?? "-"}|${type}/${subtype}|${content}`);
    }
    return seen.join("\n");
  }),
];

const whole: readonly Route[] = [
  post(Path.of("bytes"), { inputs: { body }, returns: Returns.text }, ({ body }) => hex(body)),
  post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => `${body.byteLength} bytes`),
  post(Path.of("upper"), { inputs: { upper }, returns: Returns.text }, ({ upper }) => upper),
  post(Path.of("twice"), { inputs: { a: upper, b: upper }, returns: Returns.text }, ({ a, b }) => `${a}${b}`),
  post(
    Path.of("trailers"),
    { inputs: { body, late: Header.optional("x-late", Codec.string) }, returns: Returns.text },
    ({ body, late }) => `${text(body)} ${late ?? "-"}`,
  ),
  post(Path.of("ignored"), { returns: Returns.text }, () => "ignored"),
  post(Path.of("ignored", "later"), { returns: Returns.text }, async () => "ignored"),
];

export const bodies: readonly Route[] = [...streamed, ...whole];
