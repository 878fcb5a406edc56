/** A static file that a route serves: compressed once, with an `ETag`, and checked when the app is made. */
import type { Answer as BuiltAnswer } from "../exchange/answer.ts";
import * as Answer from "../answers/makers.ts";
import type { RefusalFormat } from "../answers/refusal-format.ts";
import type { Succeeded } from "../answers/returns-type.ts";
import * as Returns from "../answers/returns.ts";
import { custom } from "../codecs/codec.ts";
import { preferredCoding } from "../codecs/negotiation.ts";
import { encodeHex } from "../http/bytes.ts";
import { stripped } from "../http/fields.ts";
import type { Awaitable, CheckedRoute, Dep } from "../inputs/dep.ts";
import { optional } from "../inputs/header.ts";
import { ok } from "../result.ts";
import type { Path } from "../routing/path.ts";
import { get } from "../routing/route.ts";
import type { Route } from "../routing/route.ts";

export interface Asset {
  readonly summary: string;
  readonly contentType: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** Checks when the app is made. Each problem follows the route's name. */
  readonly check?: (format: RefusalFormat | undefined, route: Pick<CheckedRoute, "pattern">) => readonly string[];
  /** Called on the first request of an app, and again if it threw. */
  readonly load: (app: AppFacts) => Awaitable<string | Uint8Array>;
}

/** What an asset gets of the app that serves it. */
export interface AppFacts {
  /** The format of its refusals. */
  readonly refusalFormat: RefusalFormat | undefined;
  /** The content codings of bodies that it reads. */
  readonly encodings: readonly string[];
  /** The deadline of its routes. */
  readonly deadline: { readonly ms: number } | undefined;
}

export type AssetRoute<P extends string> = Route<
  "GET",
  P,
  { headers?: { "accept-encoding"?: string | undefined } & { "if-none-match"?: string | undefined } },
  Succeeded<number, unknown>,
  never
>;

/** A loaded asset. */
interface Loaded {
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array | undefined;
  readonly tag: string;
}

// A smaller body fits a packet anyway.
const leastCompressed = 1024;

// A malformed header is ignored: the client gets the plain bytes and no 400.
const field = custom({ kind: "list", parse: ok<string>, print: (text) => text, list: true });
const inputs = {
  accepted: /* @__PURE__ */ optional("accept-encoding", field),
  known: /* @__PURE__ */ optional("if-none-match", field),
};

/** A route that serves an asset, with gzip and `ETag`. */
export function serveAsset<P extends string>(path: Path<never, P>, asset: Asset): AssetRoute<P> {
  // The same routes may be served by apps that differ.
  const byFormat = new Map<RefusalFormat | undefined, Map<string, Promise<Loaded>>>();
  const loaded = async (app: AppFacts): Promise<Loaded> => {
    const loading = byFormat.get(app.refusalFormat) ?? new Map<string, Promise<Loaded>>();
    byFormat.set(app.refusalFormat, loading);
    const kind = [app.deadline !== undefined, ...app.encodings].join();
    try {
      const before = loading.get(kind) ?? load(asset, app);
      loading.set(kind, before);
      return await before;
    } catch (error) {
      loading.delete(kind);
      throw error;
    }
  };
  const { summary, check = () => [] } = asset;
  const app: Dep<AppFacts> = {
    node: {
      from: [],
      constant: ({ refusalFormat, encodings, deadline }) => ({ refusalFormat, encodings, deadline }),
      check: (refusalFormat, route) => check(refusalFormat as RefusalFormat | undefined, route),
    },
  };
  return get(
    path,
    { summary, inputs: { ...inputs, app }, returns: Returns.response },
    async ({ accepted, known, app }) => answer(asset, await loaded(app), accepted, known),
  );
}

function answer(asset: Asset, loaded: Loaded, accepted: string | undefined, known: string | undefined): BuiltAnswer {
  const zipped = preferredCoding(accepted, ["gzip"]) === undefined ? undefined : loaded.gzip;
  // RFC 9110 §8.8.3: another content coding is another representation, so it has another tag.
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

async function load({ load }: Asset, app: AppFacts): Promise<Loaded> {
  const given = await load(app);
  const plain = typeof given === "string" ? new TextEncoder().encode(given) : given;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", plain as Uint8Array<ArrayBuffer>));
  const tag = encodeHex(digest.subarray(0, 12));
  return { plain, gzip: plain.length < leastCompressed ? undefined : await gzipped(plain), tag };
}

async function gzipped(bytes: Uint8Array): Promise<Uint8Array> {
  const compressed = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(compressed).arrayBuffer());
}

/** RFC 9110 §13.1.2: If-None-Match uses the weak comparison. */
function matches(known: string, tag: string): boolean {
  return known.split(",").some((one) => {
    const other = stripped(one);
    return other === "*" || other.replace(/^W\//, "") === tag;
  });
}
