import { z } from "zod";
import { ProjectRef } from "@/server/contract/jobs";
import {
  CreateDeliveryEndpoint,
  Delivery,
  DeliveryDetail,
  DeliveryEndpoint,
  DeliveryPage,
  DeliveryRef,
  EndpointRef,
  ListDeliveries,
  UpdateDeliveryEndpoint,
} from "@/server/contract/webhooks";
import * as webhooks from "@/server/domain/webhooks";
import { human, router } from "./init";

const ProjectDeliveries = ListDeliveries.omit({ projectId: true }).extend(ProjectRef.shape);

export const webhooksRouter = router({
  /** Endpoints that receive a project's events: its own, and those of its organization. */
  endpoints: human
    .input(ProjectRef)
    .output(z.array(DeliveryEndpoint))
    .query(
      async ({ ctx, input }) => (await webhooks.listEndpoints(ctx, { projectId: input.project_id })).items,
    ),
  create: human
    .input(CreateDeliveryEndpoint)
    .output(DeliveryEndpoint)
    .mutation(({ ctx, input }) => webhooks.createEndpoint(ctx, input)),
  update: human
    .input(UpdateDeliveryEndpoint.extend(EndpointRef.shape))
    .output(DeliveryEndpoint)
    .mutation(({ ctx, input: { endpoint_id, ...change } }) =>
      webhooks.updateEndpoint(ctx, endpoint_id, change),
    ),
  deliveries: human
    .input(ProjectDeliveries)
    .output(DeliveryPage)
    .query(({ ctx, input: { project_id, ...query } }) =>
      webhooks.deliveries(ctx, { ...query, projectId: project_id }),
    ),
  delivery: human
    .input(DeliveryRef)
    .output(DeliveryDetail)
    .query(({ ctx, input }) => webhooks.delivery(ctx, input.delivery_id)),
  replay: human
    .input(DeliveryRef)
    .output(Delivery)
    .mutation(({ ctx, input }) => webhooks.replay(ctx, input.delivery_id)),
});
