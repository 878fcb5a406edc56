/** Something a test waits for, and what makes it come. */
export interface Gate<A = void> {
  readonly passed: Promise<A>;
  readonly open: (value: A) => void;
}

export function gate<A = void>(): Gate<A> {
  let open: (value: A) => void = () => {};
  const passed = new Promise<A>((resolve) => (open = resolve));
  return { passed, open };
}
