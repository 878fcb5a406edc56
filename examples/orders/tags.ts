/** The entity tag of a text: a hash of it. */
export async function tagOf(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)), 0, 16);
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
