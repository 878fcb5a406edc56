/** `serve` of the runtime that runs this program. */
const runtime = "Bun" in globalThis ? "bun" : "Deno" in globalThis ? "deno" : "node";

export const { serve } =
  runtime === "bun"
    ? await import("usher-http/bun")
    : runtime === "deno"
      ? await import("usher-http/deno")
      : await import("usher-http/node");
