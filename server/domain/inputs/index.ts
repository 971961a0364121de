export { expiryOf, toFilename } from "./artifact-row";
export {
  artifactInput,
  type FoundArtifact,
  findArtifact,
  type InputReach,
  keepNamed,
  MOST_UPLOAD_BYTES,
  madeInEmbed,
  storeArtifact,
  type Upload,
} from "./artifacts";
export { type BodyTimeout, withBodyTimeout } from "./body-timeout";
export { type Kept, keepFor } from "./keep";
export {
  boundaryOf,
  type FilePart,
  type FormReader,
  fieldText,
  MOST_AROUND_FILE,
  readFilePart,
} from "./multipart";
export { resolveInput, storedInputHashOf, storePayload } from "./payloads";
