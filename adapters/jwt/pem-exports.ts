/** What `Jwt.publicKeys` alone uses of `jose`, so that no other program has it. */
export { exportJWK, importSPKI, importX509 } from "jose";
