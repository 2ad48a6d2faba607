import { type DynamicModule, Module } from '@nestjs/common';
import { OPERATIONS, type Operation } from '@workspace-graph/contracts';
import { ImportController } from './import.controller.js';
import { OPENAPI_OPTIONS, OpenApiController } from './openapi.controller.js';
import { OperationCalls } from './operation-calls.js';
import { restControllers } from './rest-controllers.js';
import { RestInvoker } from './rest-invoker.js';
import { WelcomeController } from './welcome.controller.js';

export interface RestModuleOptions {
  /** Version of the product, shown in the OpenAPI document. */
  readonly version: string;
  /** Operations that this process offers. Default: all. */
  readonly operations?: readonly Operation[];
}

/** The operations of the table as REST routes. Needs the `EdgeModule`. */
@Module({})
export class RestModule {
  static forRoot({ version, operations = [...OPERATIONS.values()] }: RestModuleOptions): DynamicModule {
    return {
      module: RestModule,
      controllers: [...restControllers(operations), ImportController, OpenApiController, WelcomeController],
      providers: [{ provide: OPENAPI_OPTIONS, useValue: { version, operations } }, OperationCalls, RestInvoker],
      exports: [OperationCalls],
    };
  }
}
