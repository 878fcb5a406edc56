let hushed = false;

/**
 * Keeps Deno from saying once, to the console of whoever asked for `clientGone`, that its signal aborts after an answer
 * that is whole. That is known here, and no such abort is passed on.
 */
export function hushAborts(): void {
  if (hushed) return;
  hushed = true;
  const { warn } = console;
  const unlessIt = (...said: unknown[]): void => {
    if (String(said[0]).startsWith("Deno.serve: request.signal aborts")) Object.assign(console, { warn });
    else warn(...said);
  };
  Object.assign(console, { warn: unlessIt });
}
