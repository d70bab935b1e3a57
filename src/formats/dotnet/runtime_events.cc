#include "formats/dotnet/runtime_events.h"

#include <algorithm>

namespace stackpack::dotnet {

namespace {

struct RuntimeEvent {
  std::uint16_t id;
  std::string_view name;
};

// Sorted by id. Source: the public manifest of the runtime's providers.
constexpr RuntimeEvent kRuntimeEvents[] = {
    {1, "GC/Start"},
    {2, "GC/Stop"},
    {3, "GC/RestartEEStop"},
    {4, "GC/HeapStats"},
    {5, "GC/CreateSegment"},
    {6, "GC/FreeSegment"},
    {7, "GC/RestartEEStart"},
    {8, "GC/SuspendEEStop"},
    {9, "GC/SuspendEEStart"},
    {10, "GC/AllocationTick"},
    {11, "GC/CreateConcurrentThread"},
    {12, "GC/TerminateConcurrentThread"},
    {13, "GC/FinalizersStop"},
    {14, "GC/FinalizersStart"},
    {15, "Type/BulkType"},
    {16, "GC/BulkRootEdge"},
    {17, "GC/BulkRootConditionalWeakTableElementEdge"},
    {18, "GC/BulkNode"},
    {19, "GC/BulkEdge"},
    {20, "GC/SampledObjectAllocation"},
    {21, "GC/BulkSurvivingObjectRanges"},
    {22, "GC/BulkMovedObjectRanges"},
    {23, "GC/GenerationRange"},
    {25, "GC/MarkStackRoots"},
    {26, "GC/MarkFinalizeQueueRoots"},
    {27, "GC/MarkHandles"},
    {28, "GC/MarkCards"},
    {29, "GC/FinalizeObject"},
    {30, "GC/SetGCHandle"},
    {31, "GC/DestoryGCHandle"},
    {32, "GC/SampledObjectAllocation"},
    {33, "GC/PinObjectAtGCTime"},
    {34, "GC/PinPlugAtGCTime"},
    {35, "GC/Triggered"},
    {36, "GC/BulkRootCCW"},
    {37, "GC/BulkRCW"},
    {38, "GC/BulkRootStaticVar"},
    {39, "GC/DynamicEvent"},
    {44, "IOThreadCreation/Start"},
    {45, "IOThreadCreation/Stop"},
    {46, "IOThreadRetirement/Start"},
    {47, "IOThreadRetirement/Stop"},
    {50, "ThreadPoolWorkerThread/Start"},
    {51, "ThreadPoolWorkerThread/Stop"},
    {52, "ThreadPoolWorkerThreadRetirement/Start"},
    {53, "ThreadPoolWorkerThreadRetirement/Stop"},
    {54, "ThreadPoolWorkerThreadAdjustment/Sample"},
    {55, "ThreadPoolWorkerThreadAdjustment/Adjustment"},
    {56, "ThreadPoolWorkerThreadAdjustment/Stats"},
    {57, "ThreadPoolWorkerThread/Wait"},
    {58, "YieldProcessorMeasurement"},
    {59, "ThreadPoolMinMaxThreads"},
    {60, "ThreadPoolWorkingThreadCount/Start"},
    {61, "ThreadPool/Enqueue"},
    {62, "ThreadPool/Dequeue"},
    {63, "ThreadPool/IOEnqueue"},
    {64, "ThreadPool/IODequeue"},
    {65, "ThreadPool/IOPack"},
    {70, "Thread/Creating"},
    {71, "Thread/Running"},
    {72, "Method/MethodDetails"},
    {73, "TypeLoad/Start"},
    {74, "TypeLoad/Stop"},
    {80, "Exception/Start"},
    {81, "Contention/Start"},
    {82, "ClrStack/Walk"},
    {83, "AppDomainResourceManagement/MemAllocated"},
    {84, "AppDomainResourceManagement/MemSurvived"},
    {85, "AppDomainResourceManagement/ThreadCreated"},
    {86, "AppDomainResourceManagement/ThreadTerminated"},
    {87, "AppDomainResourceManagement/DomainEnter"},
    {88, "ILStub/StubGenerated"},
    {89, "ILStub/StubCacheHit"},
    {90, "Contention/LockCreated"},
    {91, "Contention/Stop"},
    {135, "Method/DCStartCompleteV2"},
    {136, "Method/DCStopCompleteV2"},
    {137, "Method/DCStartV2"},
    {138, "Method/DCStopV2"},
    {139, "Method/DCStartVerboseV2"},
    {140, "Method/DCStopVerboseV2"},
    {141, "Method/Load"},
    {142, "Method/Unload"},
    {143, "Method/LoadVerbose"},
    {144, "Method/UnloadVerbose"},
    {145, "Method/JittingStarted"},
    {146, "Method/MemoryAllocatedForJitCode"},
    {149, "Loader/ModuleDCStartV2"},
    {150, "Loader/ModuleDCStopV2"},
    {151, "Loader/DomainModuleLoad"},
    {152, "Loader/ModuleLoad"},
    {153, "Loader/ModuleUnload"},
    {154, "Loader/AssemblyLoad"},
    {155, "Loader/AssemblyUnload"},
    {156, "Loader/AppDomainLoad"},
    {157, "Loader/AppDomainUnload"},
    {158, "ClrPerfTrack/ModuleRangeLoad"},
    {159, "Method/R2RGetEntryPoint"},
    {160, "Method/R2RGetEntryPointStart"},
    {181, "StrongNameVerification/Start"},
    {182, "StrongNameVerification/Stop"},
    {183, "AuthenticodeVerification/Start"},
    {184, "AuthenticodeVerification/Stop"},
    {185, "Method/InliningSucceeded"},
    {186, "Method/InliningFailedAnsi"},
    {187, "Runtime/Start"},
    {188, "Method/TailCallSucceeded"},
    {189, "Method/TailCallFailedAnsi"},
    {190, "Method/ILToNativeMap"},
    {191, "Method/TailCallFailed"},
    {192, "Method/InliningFailed"},
    {200, "GC/IncreaseMemoryPressure"},
    {201, "GC/DecreaseMemoryPressure"},
    {202, "GC/MarkWithType"},
    {203, "GC/Join"},
    {204, "GC/PerHeapHistory"},
    {205, "GC/GlobalHeapHistory"},
    {206, "GC/GenAwareBegin"},
    {207, "GC/GenAwareEnd"},
    {208, "GC/LOHCompact"},
    {209, "GC/FitBucketInfo"},
    {240, "DebugIPCEvent/Start"},
    {241, "DebugIPCEvent/Stop"},
    {242, "DebugExceptionProcessing/Start"},
    {243, "DebugExceptionProcessing/Stop"},
    {250, "ExceptionCatch/Start"},
    {251, "ExceptionCatch/Stop"},
    {252, "ExceptionFinally/Start"},
    {253, "ExceptionFinally/Stop"},
    {254, "ExceptionFilter/Start"},
    {255, "ExceptionFilter/Stop"},
    {256, "Exception/Stop"},
    {260, "CodeSymbols/Start"},
    {270, "EventSourceEvent"},
    {280, "TieredCompilation/Settings"},
    {281, "TieredCompilation/Pause"},
    {282, "TieredCompilation/Resume"},
    {283, "TieredCompilation/BackgroundJitStart"},
    {284, "TieredCompilation/BackgroundJitStop"},
    {290, "AssemblyLoader/Start"},
    {291, "AssemblyLoader/Stop"},
    {292, "AssemblyLoader/ResolutionAttempted"},
    {293, "AssemblyLoader/AssemblyLoadContextResolvingHandlerInvoked"},
    {294, "AssemblyLoader/AppDomainAssemblyResolveHandlerInvoked"},
    {295, "AssemblyLoader/AssemblyLoadFromResolveHandlerInvoked"},
    {296, "AssemblyLoader/KnownPathProbed"},
    {297, "JitInstrumentationData/InstrumentationData"},
    {298, "JitInstrumentationDataVerbose/InstrumentationData"},
    {299, "ProfilerMessage"},
    {300, "ExecutionCheckpoint/ExecutionCheckpoint"},
    {301, "WaitHandleWait/Start"},
    {302, "WaitHandleWait/Stop"},
    {303, "AllocationSampling"},
};

constexpr RuntimeEvent kRundownEvents[] = {
    {0, "ClrStack/Walk"},
    {10, "GC/SettingsRundown"},
    {141, "Method/DCStart"},
    {142, "Method/DCStop"},
    {143, "Method/DCStartVerbose"},
    {144, "Method/DCStopVerbose"},
    {145, "Method/DCStartComplete"},
    {146, "Method/DCStopComplete"},
    {147, "Method/DCStartInit"},
    {148, "Method/DCStopInit"},
    {149, "Method/ILToNativeMapDCStart"},
    {150, "Method/ILToNativeMapDCStop"},
    {151, "Loader/DomainModuleDCStart"},
    {152, "Loader/DomainModuleDCStop"},
    {153, "Loader/ModuleDCStart"},
    {154, "Loader/ModuleDCStop"},
    {155, "Loader/AssemblyDCStart"},
    {156, "Loader/AssemblyDCStop"},
    {157, "Loader/AppDomainDCStart"},
    {158, "Loader/AppDomainDCStop"},
    {159, "Loader/ThreadDCStop"},
    {187, "Runtime/Start"},
    {188, "CodeSymbolsRundown/Start"},
    {200, "ClrPerfTrackRundown/ModuleRangeDCStart"},
    {201, "ClrPerfTrackRundown/ModuleRangeDCStop"},
    {280, "TieredCompilationRundown/SettingsDCStart"},
    {300, "ExecutionCheckpointRundown/ExecutionCheckpointDCEnd"},
};

constexpr RuntimeEvent kPrivateEvents[] = {
    {1, "GC/Decision"},
    {2, "GC/Settings"},
    {3, "GC/Optimized"},
    {4, "GC/PerHeapHistory"},
    {5, "GC/GlobalHeapHistory"},
    {6, "GC/Join"},
    {7, "GC/MarkStackRoots"},
    {8, "GC/MarkFinalizeQueueRoots"},
    {9, "GC/MarkHandles"},
    {10, "GC/MarkCards"},
    {11, "GC/BGCStart"},
    {12, "GC/BGC1stNonCondStop"},
    {13, "GC/BGC1stConStop"},
    {14, "GC/BGC2ndNonConStart"},
    {15, "GC/BGC2ndNonConStop"},
    {16, "GC/BGC2ndConStart"},
    {17, "GC/BGC2ndConStop"},
    {18, "GC/BGCPlanStop"},
    {19, "GC/BGCSweepStop"},
    {20, "GC/BGCDrainMark"},
    {21, "GC/BGCRevisit"},
    {22, "GC/BGCOverflow"},
    {23, "GC/BGCAllocWaitStart"},
    {24, "GC/BGCAllocWaitStop"},
    {25, "GC/FullNotify"},
    {80, "Startup/EEStartupStart"},
    {81, "Startup/EEStartupStop"},
    {82, "Startup/EEConfigSetupStart"},
    {83, "Startup/EEConfigSetupStop"},
    {84, "Startup/LoadSystemBasesStart"},
    {85, "Startup/LoadSystemBasesStop"},
    {86, "Startup/ExecExeStart"},
    {87, "Startup/ExecExeStop"},
    {88, "Startup/MainStart"},
    {89, "Startup/MainStop"},
    {90, "Startup/ApplyPolicyStart"},
    {91, "Startup/ApplyPolicyStop"},
    {92, "Startup/LdLibShFolderStart"},
    {93, "Startup/LdLibShFolderStop"},
    {94, "Startup/PrestubWorkerStart"},
    {95, "Startup/PrestubWorkerStop"},
    {96, "Startup/GetInstallationStart"},
    {97, "Startup/GetInstallationStop"},
    {98, "Startup/OpenHModuleStart"},
    {99, "Startup/OpenHModuleStop"},
    {100, "Startup/ExplicitBindStart"},
    {101, "Startup/ExplicitBindStop"},
    {102, "Startup/ParseXmlStart"},
    {103, "Startup/ParseXmlStop"},
    {104, "Startup/InitDefaultDomainStart"},
    {105, "Startup/InitDefaultDomainStop"},
    {106, "Startup/InitSecurityStart"},
    {107, "Startup/InitSecurityStop"},
    {108, "Startup/AllowBindingRedirsStart"},
    {109, "Startup/AllowBindingRedirsStop"},
    {110, "Startup/EEConfigSyncStart"},
    {111, "Startup/EEConfigSyncStop"},
    {112, "Startup/BindingStart"},
    {113, "Startup/BindingStop"},
    {114, "Startup/LoaderCatchCallStart"},
    {115, "Startup/LoaderCatchCallStop"},
    {116, "Startup/FusionInitStart"},
    {117, "Startup/FusionInitStop"},
    {118, "Startup/FusionAppCtxStart"},
    {119, "Startup/FusionAppCtxStop"},
    {120, "Startup/Fusion2EEStart"},
    {121, "Startup/Fusion2EEStop"},
    {122, "Startup/SecurityCatchCallStart"},
    {123, "Startup/SecurityCatchCallStop"},
    {151, "ClrStack/Walk"},
    {158, "ClrPerfTrack/ModuleRangeLoad"},
    {159, "Binding/PolicyPhaseStart"},
    {160, "Binding/PolicyPhaseStop"},
    {161, "Binding/NgenPhaseStart"},
    {162, "Binding/NgenPhaseStop"},
    {163, "Binding/LoopupAndProbingPhaseStart"},
    {164, "Binding/LookupAndProbingPhaseStop"},
    {165, "Binding/LoaderPhaseStart"},
    {166, "Binding/LoaderPhaseStop"},
    {167, "Binding/PhaseStart"},
    {168, "Binding/PhaseStop"},
    {169, "Binding/DownloadPhaseStart"},
    {170, "Binding/DownloadPhaseStop"},
    {171, "Binding/LoaderAssemblyInitPhaseStart"},
    {172, "Binding/LoaderAssemblyInitPhaseStop"},
    {173, "Binding/LoaderMappingPhaseStart"},
    {174, "Binding/LoaderMappingPhaseStop"},
    {175, "Binding/LoaderDeliverEventPhaseStart"},
    {176, "Binding/LoaderDeliverEventsPhaseStop"},
    {177, "EvidenceGeneration/EvidenceGenerated"},
    {178, "Transparency/ModuleTransparencyComputationStart"},
    {179, "Transparency/ModuleTransparencyComputationStop"},
    {180, "Transparency/TypeTransparencyComputationStart"},
    {181, "Transparency/TypeTransparencyComputationStop"},
    {182, "Transparency/MethodTransparencyComputationStart"},
    {183, "Transparency/MethodTransparencyComputationStop"},
    {184, "Transparency/FieldTransparencyComputationStart"},
    {185, "Transparency/FieldTransparencyComputationStop"},
    {186, "Transparency/TokenTransparencyComputationStart"},
    {187, "Transparency/TokenTransparencyComputationStop"},
    {188, "NgenBinder/NgenBind"},
    {191, "FailFast"},
    {192, "GC/FinalizeObject"},
    {193, "GC/CCWRefCountChangeAnsi"},
    {194, "GC/SetGCHandle"},
    {195, "GC/DestroyGCHandle"},
    {196, "Binding/FusionMessage"},
    {198, "GC/PinObjectAtGCTime"},
    {199, "GC/PinPlugAtGCTime"},
    {200, "GC/CCWRefCountChange"},
    {201, "ClrMulticoreJit/Common"},
    {202, "ClrMulticoreJit/MethodCodeReturned"},
    {300, "ThreadPoolWorkingThreadCount/Start"},
    {301, "ThreadPool/Enqueue"},
    {302, "ThreadPool/Dequeue"},
    {303, "ThreadPool/IOEnqueue"},
    {304, "ThreadPool/IODequeue"},
    {305, "ThreadPool/IOPack"},
    {310, "LoaderHeap/AllocRequest"},
    {400, "ClrDynamicTypeUsage/IInspectableRuntimeClassName"},
    {401, "ClrDynamicTypeUsage/WinRTUnbox"},
    {402, "ClrDynamicTypeUsage/CreateRCW"},
    {403, "ClrDynamicTypeUsage/RCWVariance"},
    {404, "ClrDynamicTypeUsage/RCWIEnumerableCasting"},
    {405, "ClrDynamicTypeUsage/CreateCCW"},
    {406, "ClrDynamicTypeUsage/CCWVariance"},
    {407, "ClrDynamicTypeUsage/ObjectVariantMarshallingToNative"},
    {408, "ClrDynamicTypeUsage/GetTypeFromGUID"},
    {409, "ClrDynamicTypeUsage/GetTypeFromProgID"},
    {410, "ClrDynamicTypeUsage/ConvertToCallbackEtw"},
    {411, "ClrDynamicTypeUsage/BeginCreateManagedReference"},
    {412, "ClrDynamicTypeUsage/EndCreateManagedReference"},
    {413, "ClrDynamicTypeUsage/ObjectVariantMarshallingToManaged"},
};

constexpr RuntimeEvent kTaskEvents[] = {
    {1, "Loop/Start"},
    {2, "Loop/Stop"},
    {3, "Invoke/Start"},
    {4, "Invoke/Stop"},
    {5, "ForkJoin/Start"},
    {6, "ForkJoin/Stop"},
    {7, "TaskScheduled/Send"},
    {8, "TaskExecute/Start"},
    {9, "TaskExecute/Stop"},
    {10, "TaskWait/Send"},
    {11, "TaskWait/Stop"},
    {12, "AwaitTaskContinuationScheduled/Send"},
    {13, "TaskWaitContinuationComplete"},
    {14, "TraceOperation/Start"},
    {15, "TraceOperation/Stop"},
    {16, "TraceOperationRelation"},
    {17, "TraceSynchronousWork/Start"},
    {18, "TraceSynchronousWork/Stop"},
    {27, "IncompleteAsyncMethod"},
};

std::span<const RuntimeEvent> events_of(Provider provider) {
  switch (provider) {
    case Provider::kRuntime:
      return kRuntimeEvents;
    case Provider::kRundown:
      return kRundownEvents;
    case Provider::kPrivate:
      return kPrivateEvents;
    case Provider::kTasks:
      return kTaskEvents;
    default:
      return {};
  }
}

}  // namespace

Provider provider_named(std::string_view name) {
  if (name == "Microsoft-Windows-DotNETRuntime") {
    return Provider::kRuntime;
  }
  if (name == "Microsoft-Windows-DotNETRuntimeRundown") {
    return Provider::kRundown;
  }
  if (name == "Microsoft-Windows-DotNETRuntimePrivate") {
    return Provider::kPrivate;
  }
  return name == "System.Threading.Tasks.TplEventSource" ? Provider::kTasks : Provider::kOther;
}

std::string_view event_name(Provider provider, std::uint32_t id) {
  const std::span<const RuntimeEvent> events = events_of(provider);
  const auto found = std::lower_bound(
      events.begin(), events.end(), id,
      [](const RuntimeEvent& event, std::uint32_t wanted) { return event.id < wanted; });
  return found != events.end() && found->id == id ? found->name : std::string_view();
}

bool is_bookkeeping(Provider provider, std::uint32_t id) {
  return provider == Provider::kRundown ||
         (provider == Provider::kRuntime && ((id >= 140 && id <= 144) || id == 190));
}

bool is_module_event(Provider provider, std::uint32_t id) {
  return (provider == Provider::kRuntime && (id == 149 || id == 150 || id == 152 || id == 153)) ||
         (provider == Provider::kRundown && (id == 153 || id == 154));
}

std::optional<capture::FunctionNews> method_news(Provider provider, std::uint32_t id) {
  using capture::FunctionNews;
  const bool live = provider == Provider::kRuntime;
  if (live && id == 139) {
    return FunctionNews::kExists;
  }
  if (live && id == 140) {
    return FunctionNews::kExisted;
  }
  if ((live || provider == Provider::kRundown) && id == 143) {
    return live ? FunctionNews::kBegins : FunctionNews::kExists;
  }
  if ((live || provider == Provider::kRundown) && id == 144) {
    return live ? FunctionNews::kEnds : FunctionNews::kExisted;
  }
  return std::nullopt;
}

}  // namespace stackpack::dotnet
