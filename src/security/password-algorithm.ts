/** An algorithm with its cost. */
export interface PasswordAlgorithm {
  /** What a stored hash starts with: `$scrypt$ln=15,r=8,p=3`. Two of one head are the same. */
  readonly head: string;
  /** Hashes off the event loop. */
  hash(password: Uint8Array, salt: Uint8Array, length: number): Promise<Uint8Array>;
}
