export { expiryOf, toFilename } from "./artifact-row";
export {
  artifactInput,
  type FoundArtifact,
  findArtifact,
  type InputReach,
  keepNamed,
  MOST_UPLOAD_BYTES,
  madeInPanel,
  storeArtifact,
  type Upload,
} from "./artifacts";
export { type Kept, keepFor } from "./keep";
export {
  boundaryOf,
  type FilePart,
  type FormReader,
  fieldText,
  MOST_AROUND_FILE,
  readFilePart,
} from "./multipart";
export { impatient, type Patience } from "./patience";
export { resolveInput, storedInputHashOf, storePayload } from "./payloads";
