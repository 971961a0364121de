import { z } from "zod";
import { ProjectRef } from "@/server/contract/jobs";
import { DeliveryDetail, DeliveryEndpoint, DeliveryRef } from "@/server/contract/webhooks";
import * as webhooks from "@/server/domain/webhooks";
import * as api from "@/server/operations/webhooks";
import { human, router } from "./init";
import { mutation, query } from "./of";

export const webhooksRouter = router({
  /** Endpoints that receive a project's events: its own, and those of its organization. */
  endpoints: human
    .input(ProjectRef)
    .output(z.array(DeliveryEndpoint))
    .query(
      async ({ ctx, input }) => (await webhooks.listEndpoints(ctx, { projectId: input.project_id })).items,
    ),
  create: mutation(api.createDeliveryEndpoint),
  update: mutation(api.updateDeliveryEndpoint),
  deliveries: query(api.listDeliveries, { needs: ["projectId"] }),
  delivery: human
    .input(DeliveryRef)
    .output(DeliveryDetail)
    .query(({ ctx, input }) => webhooks.delivery(ctx, input.delivery_id)),
  replay: mutation(api.replayDelivery),
});
