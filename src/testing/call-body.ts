/** A body as a test gives it. */
export type CallBody = string | Uint8Array | FormData | URLSearchParams | object;

/** A body as it goes on the wire. */
export interface EncodedBody {
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
}

/** Encodes a body with the type a client would give it; text and bytes name none. */
export async function encodeBody(body: CallBody | undefined): Promise<EncodedBody | undefined> {
  if (body === undefined) return undefined;
  if (typeof body === "string") return { bytes: new TextEncoder().encode(body), contentType: undefined };
  if (body instanceof Uint8Array) return { bytes: body, contentType: undefined };
  if (body instanceof FormData || body instanceof URLSearchParams) return encodeForm(body);
  return { bytes: new TextEncoder().encode(JSON.stringify(body)), contentType: "application/json" };
}

async function encodeForm(form: FormData | URLSearchParams): Promise<EncodedBody> {
  const encoded = new Response(form);
  const contentType = encoded.headers.get("content-type") ?? undefined;
  return { bytes: new Uint8Array(await encoded.arrayBuffer()), contentType };
}
