/** Whether this is Cloudflare Workers' runtime, workerd. */
export function isWorkers(): boolean {
  return "WebSocketPair" in globalThis;
}
