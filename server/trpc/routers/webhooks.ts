import { z } from "zod";
import { ProjectRef } from "@/server/contract/jobs";
import {
  Delivery,
  DeliveryDetail,
  DeliveryEndpoint,
  DeliveryPage,
  DeliveryRef,
} from "@/server/contract/webhooks";
import { ofWork } from "@/server/contract/work";
import * as webhooks from "@/server/domain/webhooks";
import * as api from "@/server/operations/webhooks";
import { router } from "../init";
import { mutation, reads, widerQuery } from "../of";
import { pageWithWork } from "../works";

const WorkPage = DeliveryPage.extend({ items: z.array(Delivery.extend(ofWork)) });

export const webhooksRouter = router({
  /** Endpoints that receive a project's events: its own, and those of its organization. */
  endpoints: reads(
    ProjectRef,
    z.array(DeliveryEndpoint),
    async (ctx, input) => (await webhooks.listEndpoints(ctx, { projectId: input.project_id })).items,
  ),
  create: mutation(api.createDeliveryEndpoint),
  update: mutation(api.updateDeliveryEndpoint),
  deliveries: widerQuery(api.listDeliveries, { needs: ["projectId"], shown: WorkPage, view: pageWithWork }),
  delivery: reads(DeliveryRef, DeliveryDetail, (ctx, input) => webhooks.delivery(ctx, input.delivery_id)),
  replay: mutation(api.replayDelivery),
});
