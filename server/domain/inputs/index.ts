export {
  artifactInput,
  type FoundArtifact,
  findArtifact,
  MOST_UPLOAD_BYTES,
  storeArtifact,
  type Upload,
} from "./artifacts";
export { resolveInput, storePayload } from "./payloads";
