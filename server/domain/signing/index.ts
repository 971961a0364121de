export { signCorrection } from "./corrections";
export { forgetKeys, listSigningKeys, publicKeys, rotateSigningKey, type Signed, signBody } from "./keys";
