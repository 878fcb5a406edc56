/**
 * Whether what a client gave is the secret: a token, a key. It takes as long for a text that begins like the secret as for
 * any other of that length, so that nobody finds it out letter by letter; `===` ends at the first that differs. A password
 * is not compared at all, but hashed by a slow hash, which compares by itself.
 */
export function isSameSecret(given: string, secret: string): boolean {
  let differing = given.length ^ secret.length;
  for (let i = 0; i < given.length; i++) differing |= given.charCodeAt(i) ^ secret.charCodeAt(i % secret.length);
  return differing === 0;
}
