export { toFilename, uploadExpiry } from "./artifact-row";
export {
  artifactInput,
  type FoundArtifact,
  findArtifact,
  type InputReach,
  type InputUpload,
  keepNamed,
  MOST_UPLOAD_BYTES,
  madeInEmbed,
  storeArtifact,
} from "./artifacts";
export { type BodyTimeout, withBodyTimeout } from "./body-timeout";
export { keepFor, type UnownedFile } from "./keep";
export {
  boundaryOf,
  type FilePart,
  type FormReader,
  fieldText,
  MOST_AROUND_FILE,
  readFilePart,
} from "./multipart";
export { resolveInput, storedInputHashOf, storePayload } from "./payloads";
