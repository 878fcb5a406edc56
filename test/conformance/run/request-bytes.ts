import type { Ask, Sending } from "../case.ts";

/** The bytes of a request, one character for each byte. */
export function requestBytes({ ask, headers = [], hostless, body }: Ask): string {
  const names = headers.map(([name]) => name.toLowerCase());
  const host = hostless === true || names.includes("host") ? [] : ["host: h"];
  const { framing, wire } = framed(body);
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return [lineOf(ask), ...host, ...lines, ...framing, "", wire].join("\r\n");
}

export const lineOf = (ask: string): string => (/ HTTP\/\S*$/i.test(ask) ? ask : `${ask} HTTP/1.1`);

function framed(body: Sending | undefined): { readonly framing: readonly string[]; readonly wire: string } {
  if (body === undefined) return { framing: [], wire: "" };
  if (typeof body === "object" && "wire" in body) return { framing: [], wire: body.wire };
  if (typeof body === "object" && "chunks" in body) {
    const chunks = body.chunks.map(byteText).map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    return { framing: ["transfer-encoding: chunked"], wire: `${chunks.join("")}0\r\n\r\n` };
  }
  const wire = byteText(body);
  return { framing: [`content-length: ${wire.length}`], wire };
}

const byteText = (part: string | Uint8Array): string => Buffer.from(part as string).toString("latin1");
