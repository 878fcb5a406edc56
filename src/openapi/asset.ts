import * as Answer from "../answers/build.ts";
import type { Answer as BuiltAnswer } from "../answers/answer.ts";
import type { Succeeded } from "../answers/returned.ts";
import * as Returns from "../answers/returns.ts";
import { custom } from "../codecs/custom.ts";
import { weighted } from "../codecs/weighted.ts";
import { stripped } from "../codecs/white-space.ts";
import type { Awaitable, Dep } from "../inputs/dep.ts";
import { optional } from "../inputs/header.ts";
import { ok } from "../result.ts";
import type { Path } from "../routes/path.ts";
import { get } from "../routes/route.ts";
import type { Route } from "../routes/route.ts";

/** Bytes that stay as they are while the app runs. */
export interface Asset {
  readonly summary: string;
  readonly contentType: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** What keeps it from being served as it is declared, said behind the route's name when the app is made. */
  readonly check?: () => readonly string[];
  /** Called when it is first asked for; called again where it threw. */
  readonly load: () => Awaitable<string | Uint8Array>;
}

/** The route of an asset, as its caller knows it. */
export type AssetRoute<P extends string> = Route<
  "GET",
  P,
  { headers?: { "accept-encoding"?: string } & { "if-none-match"?: string } },
  Succeeded<number, unknown>,
  never
>;

/** What is sent, made once. */
interface Loaded {
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array | undefined;
  readonly tag: string;
}

// Less than this a packet holds anyway.
const leastCompressed = 1024;

// A client that writes these fields in a way nobody knows gets the bytes as they are, and no problem.
const field = custom({ kind: "list", parse: ok<string>, print: (text) => text, list: true });
const inputs = { accepted: optional("accept-encoding", field), known: optional("if-none-match", field) };

/** A route that serves an asset: compressed where the client takes it, and not again to a client that has it. */
export function serveAsset<P extends string>(path: Path<{}, P>, asset: Asset): AssetRoute<P> {
  let loading: Promise<Loaded> | undefined;
  const loaded = async (): Promise<Loaded> => {
    try {
      return await (loading ??= load(asset));
    } catch (error) {
      loading = undefined;
      throw error;
    }
  };
  const { summary, check = () => [] } = asset;
  const checked: Dep<undefined> = { node: { from: [], constant: () => undefined, check } };
  return get(
    path,
    { summary, inputs: { ...inputs, checked }, returns: Returns.response },
    async ({ accepted, known }) => answer(asset, await loaded(), accepted, known),
  );
}

function answer(asset: Asset, loaded: Loaded, accepted: string | undefined, known: string | undefined): BuiltAnswer {
  const zipped = loaded.gzip !== undefined && takesGzip(accepted) ? loaded.gzip : undefined;
  // RFC 9110 §8.8.3: what is encoded otherwise is another representation, with a tag of its own.
  const tag = zipped === undefined ? `"${loaded.tag}"` : `"${loaded.tag}-gzip"`;
  const headers: (readonly [string, string])[] = [
    ["cache-control", "no-cache"],
    ["etag", tag],
    ...(loaded.gzip === undefined ? [] : [["vary", "accept-encoding"] as const]),
    ...(asset.headers ?? []),
  ];
  if (known !== undefined && matches(known, tag)) return Answer.empty({ status: 304, headers });
  if (zipped !== undefined) headers.push(["content-encoding", "gzip"]);
  return Answer.make(zipped ?? loaded.plain, { contentType: asset.contentType, headers });
}

async function load({ load }: Asset): Promise<Loaded> {
  const given = await load();
  const plain = typeof given === "string" ? new TextEncoder().encode(given) : given;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", plain as Uint8Array<ArrayBuffer>));
  const tag = [...digest.subarray(0, 12)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return { plain, gzip: plain.length < leastCompressed ? undefined : await gzipped(plain), tag };
}

async function gzipped(bytes: Uint8Array): Promise<Uint8Array> {
  const compressed = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(compressed).arrayBuffer());
}

function takesGzip(accepted: string | undefined): boolean {
  const read = accepted === undefined ? undefined : weighted.parse(accepted);
  if (read?.ok !== true) return false;
  const codings = read.value.filter(({ token }) => token === "*" || token.toLowerCase() === "gzip");
  const named = codings.find(({ token }) => token !== "*") ?? codings[0];
  return named !== undefined && named.weight > 0;
}

/** RFC 9110 §13.1.2: compared without regard to how strong the tags are. */
function matches(known: string, tag: string): boolean {
  return known.split(",").some((one) => {
    const its = stripped(one);
    return its === "*" || its.replace(/^W\//, "") === tag;
  });
}
