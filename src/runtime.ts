/** Whether this is Cloudflare Workers' runtime, workerd. */
export function isWorkers(): boolean {
  return "WebSocketPair" in globalThis;
}

/** Whether this is Node.js, whose `fetch` is undici, and no runtime that has its globals. */
export function isNode(): boolean {
  if (isWorkers() || "Bun" in globalThis || "Deno" in globalThis) return false;
  const { process } = globalThis as { readonly process?: { readonly versions?: { readonly undici?: string } } };
  return process?.versions?.undici !== undefined;
}
