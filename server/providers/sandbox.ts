import { z } from "zod";
import { defineProvider } from "./provider";
import { audioModels, music, sound, speech } from "./sandbox-ports/audio";
import { embedding, embeddingModels } from "./sandbox-ports/embedding";
import { image, imageModels } from "./sandbox-ports/image";
import { mesh, meshModels } from "./sandbox-ports/mesh";
import { pins } from "./sandbox-ports/pins";
import { registrar, registrarModels } from "./sandbox-ports/registrar";
import { text, textModels } from "./sandbox-ports/text";
import { video, videoModels } from "./sandbox-ports/video";

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
    ...imageModels,
    ...meshModels,
    ...videoModels,
    ...audioModels,
    ...registrarModels,
    ...embeddingModels,
  ],
  text,
  image,
  mesh,
  video,
  speech,
  music,
  sound,
  registrar,
  embedding,
  pins,
});
