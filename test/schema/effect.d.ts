/** A type of the DOM that the declarations of Effect name. */
interface JsonWebKey {
  readonly kty?: string;
}
