/** How the senders of webhooks sign a request. */
import { encodeBase64, encodeHex, losslessBytes } from "../http/bytes.ts";

/** Who says how a request is signed: the Standard Webhooks specification, GitHub, or Stripe. */
export type WebhookScheme = "standard" | "github" | "stripe";

/** What a request's headers say of its signature. */
export interface Claim {
  /** What is signed before the body, with its separators. */
  readonly prefix: string;
  /** When it was signed, in milliseconds since 1970; undefined where the scheme signs no time. */
  readonly signedAtMs: number | undefined;
  /** As the sender writes them; one of them must be ours. */
  readonly signatures: readonly string[];
}

/** One way to sign a request. */
export interface Scheme {
  /** The headers that it reads, in lower case. Where its senders have several names for them, a request has all of one list. */
  readonly headers: readonly (readonly string[])[];
  /** Whether the time of signing is part of what is signed. */
  readonly isTimed: boolean;
  /** The bytes of the key that a secret stands for; undefined where the text is no secret of the scheme. */
  keyOf(secret: string): Uint8Array<ArrayBuffer> | undefined;
  /** What a secret must be, for errors. */
  readonly secretIs: string;
  /** Undefined where a header is missing or malformed. */
  claimOf(header: (name: string) => string | undefined): Claim | undefined;
  /** The signature as the scheme writes it. */
  write(signature: Uint8Array): string;
  /** The headers of a request with one signature for each secret. */
  headersOf(id: string, seconds: number, signatures: readonly string[]): { readonly [name: string]: string };
  /** What is signed before the body. */
  prefixOf(id: string, seconds: number): string;
}

/** A secret of less could be guessed: half of SHA-256's output. Errors say so in words, which esbuild can leave out. */
const minKeyBytes = 16;
/** A sender that changes its secret signs with two. More are not compared. */
const maxSignatures = 16;

// The text itself is the key.
function textKey(secret: string): Uint8Array<ArrayBuffer> | undefined {
  const key = losslessBytes(secret);
  return key.byteLength < minKeyBytes ? undefined : key;
}

function isSeconds(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,12}$/.test(text);
}

/**
 * The specification's names, and Svix's older ones, which Clerk, Resend and other customers of Svix send:
 * https://docs.svix.com/receiving/verifying-payloads/how-manual
 */
const standardHeaders = [
  ["webhook-id", "webhook-timestamp", "webhook-signature"],
  ["svix-id", "svix-timestamp", "svix-signature"],
] as const;

/** https://github.com/standard-webhooks/standard-webhooks, with the symmetric signature `v1`. */
const standard: Scheme = {
  headers: standardHeaders,
  isTimed: true,
  secretIs: "whsec_ and the base64 of at least 16 bytes",
  keyOf(secret) {
    // Supabase shows `v1,` before it: https://supabase.com/docs/guides/auth/auth-hooks/send-sms-hook
    const base64 = /^(?:v1,)?whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
    if (base64 === undefined || base64.length % 4 !== 0) return undefined;
    const key = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return key.byteLength < minKeyBytes ? undefined : key;
  },
  claimOf(header) {
    for (const names of standardHeaders) {
      const [id, seconds, signed] = names.map(header);
      // A dot separates what is signed, so that an id has none.
      if (id === undefined || id === "" || id.includes(".") || !isSeconds(seconds) || signed === undefined) continue;
      // Supabase Auth joins its signatures by a comma and a space, other senders by a space.
      const signatures = signed.split(/,? /, maxSignatures);
      return { prefix: `${id}.${seconds}.`, signedAtMs: Number(seconds) * 1000, signatures };
    }
    return undefined;
  },
  write: (signature) => `v1,${encodeBase64(signature)}`,
  headersOf: (id, seconds, signatures) => ({
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": signatures.join(" "),
  }),
  prefixOf: (id, seconds) => `${id}.${seconds}.`,
};

/** https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries */
const github: Scheme = {
  headers: [["x-hub-signature-256"]],
  isTimed: false,
  secretIs: "at least 16 bytes",
  keyOf: textKey,
  claimOf(header) {
    const signed = header("x-hub-signature-256");
    return signed === undefined ? undefined : { prefix: "", signedAtMs: undefined, signatures: [signed] };
  },
  write: (signature) => `sha256=${encodeHex(signature)}`,
  headersOf: (id, _, [signature = ""]) => ({ "x-github-delivery": id, "x-hub-signature-256": signature }),
  prefixOf: () => "",
};

/** https://docs.stripe.com/webhooks/signature */
const stripe: Scheme = {
  headers: [["stripe-signature"]],
  isTimed: true,
  secretIs: "at least 16 bytes",
  keyOf: textKey,
  claimOf(header) {
    const members = header("stripe-signature")?.split(",", maxSignatures) ?? [];
    const valuesOf = (name: string) =>
      members.flatMap((member) => (member.startsWith(`${name}=`) ? [member.slice(name.length + 1)] : []));
    const [seconds, ...more] = valuesOf("t");
    // Of two times the signature could be of either.
    if (!isSeconds(seconds) || more.length > 0) return undefined;
    return { prefix: `${seconds}.`, signedAtMs: Number(seconds) * 1000, signatures: valuesOf("v1") };
  },
  write: encodeHex,
  headersOf: (_, seconds, signatures) => ({
    "stripe-signature": [`t=${seconds}`, ...signatures.map((signature) => `v1=${signature}`)].join(","),
  }),
  prefixOf: (_, seconds) => `${seconds}.`,
};

export const schemes: ReadonlyMap<unknown, Scheme> = /* @__PURE__ */ new Map([
  ["standard", standard],
  ["github", github],
  ["stripe", stripe],
]);
