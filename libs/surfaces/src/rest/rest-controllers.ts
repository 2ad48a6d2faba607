import { Controller, Delete, Get, Inject, Patch, Post, Put, Req, Res, type Type } from '@nestjs/common';
import { type HttpMethod, isOffered, type Operation } from '@workspace-graph/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EdgeRoute } from '../edge/edge-route.js';
import { RestInvoker } from './rest-invoker.js';
import { planOf, type RoutePlan, routerPath } from './route-plan.js';

const METHODS: Readonly<Record<HttpMethod, (path: string) => MethodDecorator>> = {
  GET: Get,
  POST: Post,
  PUT: Put,
  PATCH: Patch,
  DELETE: Delete,
};

class OperationsController {
  constructor(readonly invoker: RestInvoker) {}
}

/** One Nest controller for each group of the table, with a method for each operation that has a route. */
export function restControllers(operations: Iterable<Operation>): Type<unknown>[] {
  const controllers = new Map<string, Type<OperationsController>>();
  for (const operation of operations) {
    if (!operation.rest) continue;
    const { tag } = operation.rest;
    const controller = controllers.get(tag) ?? createController(tag);
    controllers.set(tag, controller);
    addRoute(controller, planOf(operation, operation.rest));
  }
  return [...controllers.values()];
}

function createController(tag: string): Type<OperationsController> {
  const name = `${tag.replace(/\W+(\w)/g, (_match, letter: string) => letter.toUpperCase())}Controller`;
  const controller = { [name]: class extends OperationsController {} }[name] as Type<OperationsController>;
  Controller()(controller);
  Inject(RestInvoker)(controller, undefined, 0);
  return controller;
}

/** @throws Error for an operation that no surface may offer */
function addRoute(controller: Type<OperationsController>, plan: RoutePlan): void {
  const { operation, rest } = plan;
  if (!isOffered(operation))
    throw new Error(`Operation ${operation.name} of the tier ${operation.tier} cannot have a route`);
  const { name, tier } = operation;
  const prototype = controller.prototype as object;
  const descriptor: PropertyDescriptor = {
    value(this: OperationsController, request: FastifyRequest, reply: FastifyReply): Promise<void> {
      return this.invoker.handle(plan, request, reply);
    },
    configurable: true,
    writable: true,
  };
  Object.defineProperty(prototype, name, descriptor);
  METHODS[rest.method](routerPath(rest.path))(prototype, name, descriptor);
  EdgeRoute({ tier })(prototype, name, descriptor);
  Req()(prototype, name, 0);
  Res()(prototype, name, 1);
}
