import { z } from "zod";
import { defineProvider } from "./provider";
import { audioModels, sandboxMusic, sandboxSound, sandboxSpeech } from "./sandbox-ports/audio";
import { sandboxEmbedding, sandboxEmbeddingModels } from "./sandbox-ports/embedding";
import { sandboxImage, sandboxImageModels } from "./sandbox-ports/image";
import { meshModels, sandboxMesh } from "./sandbox-ports/mesh";
import { sandboxPins } from "./sandbox-ports/pins";
import { registrarModels, sandboxRegistrar } from "./sandbox-ports/registrar";
import { sandboxText, textModels } from "./sandbox-ports/text";
import { sandboxVideo, videoModels } from "./sandbox-ports/video";

/*
 * The sandbox: our own small vendor (server/sandbox), over real HTTP in a separate process. Each port has its own file.
 */

export default defineProvider({
  name: "sandbox",
  title: "Sandbox",
  maturity: "NC17",
  credentials: z.object({}),
  environment: { credentials: {}, baseUrl: "SANDBOX_URL" },
  defaultBaseUrl: null,
  models: [
    ...textModels,
    ...sandboxImageModels,
    ...meshModels,
    ...videoModels,
    ...audioModels,
    ...registrarModels,
    ...sandboxEmbeddingModels,
  ],
  text: sandboxText,
  image: sandboxImage,
  mesh: sandboxMesh,
  video: sandboxVideo,
  speech: sandboxSpeech,
  music: sandboxMusic,
  sound: sandboxSound,
  registrar: sandboxRegistrar,
  embedding: sandboxEmbedding,
  pins: sandboxPins,
});
