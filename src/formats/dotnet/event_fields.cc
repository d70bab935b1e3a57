#include "formats/dotnet/event_fields.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stackpack::dotnet {

using capture::PayloadExtent;
using capture::PayloadField;
using capture::PayloadSchema;
using capture::PayloadType;

namespace {

constexpr unsigned kAnyVersion = ~0U;

// Fields as NAME:TYPE. Types: u, i, x (shown in hexadecimal digits) and d with their bytes, p a
// pointer, s and a texts of UTF-16 and bytes, g a GUID, b a Boolean, d alone bytes. NAME[COUNT] is
// as many as the field COUNT says, NAME[COUNT]{...} a list of structs. Those after @N are there
// from version N on. Source: ids, versions, names and types of the manifest of the runtime's
// providers, dotnet/runtime src/coreclr/vm/ClrEtwAll.man.
struct EventFields {
  std::uint16_t id;
  unsigned last_version;
  std::string_view fields;
};

constexpr std::string_view kMethodFields =
    "MethodID:x8 ModuleID:x8 MethodStartAddress:x8 MethodSize:x4 MethodToken:x4 "
    "MethodFlags:x4 @1 ClrInstanceID:u2 @2 ReJITID:x8";
constexpr std::string_view kVerboseMethodFields =
    "MethodID:x8 ModuleID:x8 MethodStartAddress:x8 MethodSize:x4 MethodToken:x4 "
    "MethodFlags:x4 MethodNamespace:s MethodName:s MethodSignature:s @1 ClrInstanceID:u2 "
    "@2 ReJITID:x8";
constexpr std::string_view kDomainModuleFields =
    "ModuleID:x8 AssemblyID:x8 AppDomainID:x8 ModuleFlags:x4 Reserved1:u4 ModuleILPath:s "
    "ModuleNativePath:s @1 ClrInstanceID:u2";
constexpr std::string_view kModuleFields =
    "ModuleID:x8 AssemblyID:x8 ModuleFlags:x4 Reserved1:u4 ModuleILPath:s "
    "ModuleNativePath:s @1 ClrInstanceID:u2 @2 ManagedPdbSignature:g ManagedPdbAge:u4 "
    "ManagedPdbBuildPath:s NativePdbSignature:g NativePdbAge:u4 NativePdbBuildPath:s";
constexpr std::string_view kFirstAssemblyFields =
    "AssemblyID:x8 AppDomainID:x8 AssemblyFlags:x4 FullyQualifiedAssemblyName:s";
constexpr std::string_view kAssemblyFields =
    "AssemblyID:x8 AppDomainID:x8 BindingID:x8 AssemblyFlags:x4 "
    "FullyQualifiedAssemblyName:s ClrInstanceID:u2";
constexpr std::string_view kDomainFields =
    "AppDomainID:x8 AppDomainFlags:x4 AppDomainName:s @1 AppDomainIndex:u4 "
    "ClrInstanceID:u2";
constexpr std::string_view kThreadFields =
    "ManagedThreadID:x8 AppDomainID:x8 Flags:x4 ManagedThreadIndex:u4 OSThreadID:u4 "
    "ClrInstanceID:u2";
constexpr std::string_view kNoFields = "@1 ClrInstanceID:u2";
constexpr std::string_view kPoolFields =
    "ActiveWorkerThreadCount:u4 RetiredWorkerThreadCount:u4 ClrInstanceID:u2";
constexpr std::string_view kIoThreadFields =
    "IOThreadCount:u4 RetiredIOThreads:u4 @1 ClrInstanceID:u2";
constexpr std::string_view kMarkFields = "HeapNum:u4 ClrInstanceID:u2";
constexpr std::string_view kHandlerFields = "EntryEIP:x8 MethodID:x8 MethodName:s ClrInstanceID:u2";
constexpr std::string_view kMapFields =
    "MethodID:x8 ReJITID:x8 MethodExtent:u1 CountOfMapEntries:u2 "
    "ILOffsets[CountOfMapEntries]:u4 NativeOffsets[CountOfMapEntries]:u4 ClrInstanceID:u2 "
    "@1 ILVersionID:u8";
constexpr std::string_view kRuntimeFields =
    "ClrInstanceID:u2 Sku:u2 BclMajorVersion:u2 BclMinorVersion:u2 BclBuildNumber:u2 "
    "BclQfeNumber:u2 VMMajorVersion:u2 VMMinorVersion:u2 VMBuildNumber:u2 VMQfeNumber:u2 "
    "StartupFlags:x4 StartupMode:u1 CommandLine:s ComObjectGuid:g RuntimeDllPath:s";
constexpr std::string_view kSampledObjectFields =
    "Address:p TypeID:p ObjectCountForTypeSample:u4 TotalSizeForTypeSample:u8 "
    "ClrInstanceID:u2";
constexpr std::string_view kCheckpointFields = "ClrInstanceID:u2 Name:s Timestamp:i8";
constexpr std::string_view kTieringFields = "ClrInstanceID:u2 Flags:x4";
constexpr std::string_view kCodeFields =
    "ModuleId:x8 TotalChunks:u2 ChunkNumber:u2 ChunkLength:u4 Chunk[ChunkLength]:d "
    "ClrInstanceID:u2";
constexpr std::string_view kRangeFields =
    "ClrInstanceID:u2 ModuleID:x8 RangeBegin:x4 RangeSize:x4 RangeType:u1";
constexpr EventFields kRuntimeFieldRows[] = {
    {1, 0, "Count:u4 Reason:u4"},
    {1, kAnyVersion,
     "Count:u4 Depth:u4 Reason:u4 Type:u4 ClrInstanceID:u2 @2 ClientSequenceNumber:u8"},
    {2, 0, "Count:u4 Depth:u2"},
    {2, kAnyVersion, "Count:u4 Depth:u4 ClrInstanceID:u2"},
    {3, kAnyVersion, kNoFields},
    {4, kAnyVersion,
     "GenerationSize0:u8 TotalPromotedSize0:u8 GenerationSize1:u8 TotalPromotedSize1:u8 "
     "GenerationSize2:u8 TotalPromotedSize2:u8 GenerationSize3:u8 TotalPromotedSize3:u8 "
     "FinalizationPromotedSize:u8 FinalizationPromotedCount:u8 PinnedObjectCount:u4 "
     "SinkBlockCount:u4 GCHandleCount:u4 @1 ClrInstanceID:u2 @2 GenerationSize4:u8 "
     "TotalPromotedSize4:u8"},
    {5, kAnyVersion, "Address:x8 Size:u8 Type:u4 @1 ClrInstanceID:u2"},
    {6, kAnyVersion, "Address:x8 @1 ClrInstanceID:u2"},
    {7, kAnyVersion, kNoFields},
    {8, kAnyVersion, kNoFields},
    {9, 0, "Reason:u2"},
    {9, kAnyVersion, "Reason:u4 Count:u4 ClrInstanceID:u2"},
    {10, kAnyVersion,
     "AllocationAmount:u4 AllocationKind:u4 @1 ClrInstanceID:u2 @2 AllocationAmount64:u8 "
     "TypeID:p TypeName:s HeapIndex:u4 @3 Address:p @4 ObjectSize:u8"},
    {11, kAnyVersion, kNoFields},
    {12, kAnyVersion, kNoFields},
    {13, kAnyVersion, "Count:u4 @1 ClrInstanceID:u2"},
    {14, kAnyVersion, kNoFields},
    {15, kAnyVersion,
     "Count:u4 ClrInstanceID:u2 Values[Count]{TypeID:x8 ModuleID:x8 TypeNameID:u4 Flags:x4 "
     "CorElementType:u1 Name:s TypeParameterCount:u4 "
     "TypeParameters[TypeParameterCount]:x8}"},
    {16, kAnyVersion,
     "Index:u4 Count:u4 ClrInstanceID:u2 Values[Count]{RootedNodeAddress:p GCRootKind:u1 "
     "GCRootFlag:x4 GCRootID:p}"},
    {17, kAnyVersion,
     "Index:u4 Count:u4 ClrInstanceID:u2 Values[Count]{GCKeyNodeID:p GCValueNodeID:p "
     "GCRootID:p}"},
    {18, kAnyVersion,
     "Index:u4 Count:u4 ClrInstanceID:u2 Values[Count]{Address:p Size:u8 TypeID:x8 "
     "EdgeCount:u8}"},
    {19, kAnyVersion,
     "Index:u4 Count:u4 ClrInstanceID:u2 Values[Count]{Value:p ReferencingFieldID:u4}"},
    {20, kAnyVersion, kSampledObjectFields},
    {21, kAnyVersion,
     "Index:u4 Count:u4 ClrInstanceID:u2 Values[Count]{RangeBase:p RangeLength:u8}"},
    {22, kAnyVersion,
     "Index:u4 Count:u4 ClrInstanceID:u2 Values[Count]{OldRangeBase:p NewRangeBase:p "
     "RangeLength:u8}"},
    {23, kAnyVersion,
     "Generation:u1 RangeStart:p RangeUsedLength:u8 RangeReservedLength:u8 "
     "ClrInstanceID:u2"},
    {25, kAnyVersion, kMarkFields},
    {26, kAnyVersion, kMarkFields},
    {27, kAnyVersion, kMarkFields},
    {28, kAnyVersion, kMarkFields},
    {29, kAnyVersion, "TypeID:p ObjectID:p ClrInstanceID:u2"},
    {30, kAnyVersion,
     "HandleID:p ObjectID:p Kind:u4 Generation:u4 AppDomainID:x8 ClrInstanceID:u2"},
    {31, kAnyVersion, "HandleID:p ClrInstanceID:u2"},
    {32, kAnyVersion, kSampledObjectFields},
    {33, kAnyVersion, "HandleID:p ObjectID:p ObjectSize:u8 TypeName:s ClrInstanceID:u2"},
    {35, kAnyVersion, "Reason:u4 ClrInstanceID:u2"},
    {36, kAnyVersion,
     "Count:u4 ClrInstanceID:u2 Values[Count]{GCRootID:x8 ObjectID:x8 TypeID:x8 "
     "IUnknown:x8 RefCount:u4 PeggedRefCount:u4 Flags:x4}"},
    {37, kAnyVersion,
     "Count:u4 ClrInstanceID:u2 Values[Count]{ObjectID:x8 TypeID:x8 IUnknown:x8 VTable:x8 "
     "RefCount:u4 Flags:x4}"},
    {38, kAnyVersion,
     "Count:u4 AppDomainID:x8 ClrInstanceID:u2 Values[Count]{GCRootID:x8 ObjectID:x8 "
     "TypeID:x8 Flags:x4 FieldName:s}"},
    {39, kAnyVersion, "Name:s DataSize:u4 Data[DataSize]:d ClrInstanceID:u2"},
    {44, kAnyVersion, kIoThreadFields},
    {45, kAnyVersion, kIoThreadFields},
    {46, kAnyVersion, kIoThreadFields},
    {47, kAnyVersion, kIoThreadFields},
    {50, kAnyVersion, kPoolFields},
    {51, kAnyVersion, kPoolFields},
    {52, kAnyVersion, kPoolFields},
    {53, kAnyVersion, kPoolFields},
    {54, kAnyVersion, "Throughput:d8 ClrInstanceID:u2"},
    {55, kAnyVersion, "AverageThroughput:d8 NewWorkerThreadCount:u4 Reason:u4 ClrInstanceID:u2"},
    {56, kAnyVersion,
     "Duration:d8 Throughput:d8 ThreadWave:d8 ThroughputWave:d8 ThroughputErrorEstimate:d8 "
     "AverageThroughputErrorEstimate:d8 ThroughputRatio:d8 Confidence:d8 "
     "NewControlSetting:d8 NewThreadWaveMagnitude:u2 ClrInstanceID:u2"},
    {57, kAnyVersion, kPoolFields},
    {58, kAnyVersion, "ClrInstanceID:u2 NsPerYield:d8 @1 EstablishedNsPerYield:d8"},
    {59, kAnyVersion,
     "MinWorkerThreads:u2 MaxWorkerThreads:u2 MinIOCompletionThreads:u2 "
     "MaxIOCompletionThreads:u2 ClrInstanceID:u2"},
    {60, kAnyVersion, "Count:u4 ClrInstanceID:u2"},
    {61, kAnyVersion, "WorkID:p ClrInstanceID:u2"},
    {62, kAnyVersion, "WorkID:p ClrInstanceID:u2"},
    {63, kAnyVersion, "NativeOverlapped:p Overlapped:p MultiDequeues:b ClrInstanceID:u2"},
    {64, kAnyVersion, "NativeOverlapped:p Overlapped:p ClrInstanceID:u2"},
    {65, kAnyVersion, "NativeOverlapped:p Overlapped:p ClrInstanceID:u2"},
    {70, kAnyVersion, "ID:p ClrInstanceID:u2"},
    {71, kAnyVersion, "ID:p ClrInstanceID:u2"},
    {72, kAnyVersion,
     "MethodID:x8 TypeID:x8 MethodToken:x4 TypeParameterCount:u4 LoaderModuleID:x8 "
     "TypeParameters[TypeParameterCount]:x8"},
    {73, kAnyVersion, "TypeLoadStartID:u4 ClrInstanceID:u2"},
    {74, kAnyVersion, "TypeLoadStartID:u4 ClrInstanceID:u2 LoadLevel:u2 TypeID:x8 TypeName:s"},
    {80, 0, {}},
    {80, kAnyVersion,
     "ExceptionType:s ExceptionMessage:s ExceptionEIP:p ExceptionHRESULT:x4 "
     "ExceptionFlags:x2 ClrInstanceID:u2"},
    {81, kAnyVersion,
     "ContentionFlags:u1 ClrInstanceID:u2 @2 LockID:p AssociatedObjectID:p "
     "LockOwnerThreadID:u8"},
    {82, kAnyVersion,
     "ClrInstanceID:u2 Reserved1:u1 Reserved2:u1 FrameCount:u4 Stack[FrameCount]:p"},
    {83, kAnyVersion, "AppDomainID:x8 Allocated:u8 ClrInstanceID:u2"},
    {84, kAnyVersion, "AppDomainID:x8 Survived:u8 ProcessSurvived:u8 ClrInstanceID:u2"},
    {85, kAnyVersion, kThreadFields},
    {86, kAnyVersion, "ManagedThreadID:x8 AppDomainID:x8 ClrInstanceID:u2"},
    {87, kAnyVersion, "ManagedThreadID:x8 AppDomainID:x8 ClrInstanceID:u2"},
    {88, kAnyVersion,
     "ClrInstanceID:u2 ModuleID:x8 StubMethodID:x8 StubFlags:x4 "
     "ManagedInteropMethodToken:x4 ManagedInteropMethodNamespace:s "
     "ManagedInteropMethodName:s ManagedInteropMethodSignature:s NativeMethodSignature:s "
     "StubMethodSignature:s StubMethodILCode:s"},
    {89, kAnyVersion,
     "ClrInstanceID:u2 ModuleID:x8 StubMethodID:x8 ManagedInteropMethodToken:x4 "
     "ManagedInteropMethodNamespace:s ManagedInteropMethodName:s "
     "ManagedInteropMethodSignature:s"},
    {90, kAnyVersion, "LockID:p AssociatedObjectID:p ClrInstanceID:u2"},
    {91, kAnyVersion, "ContentionFlags:u1 ClrInstanceID:u2 @1 DurationNs:d8"},
    {135, kAnyVersion, kNoFields},
    {136, kAnyVersion, kNoFields},
    {137, kAnyVersion, kMethodFields},
    {138, kAnyVersion, kMethodFields},
    {139, kAnyVersion, kVerboseMethodFields},
    {140, kAnyVersion, kVerboseMethodFields},
    {141, kAnyVersion, kMethodFields},
    {142, kAnyVersion, kMethodFields},
    {143, kAnyVersion, kVerboseMethodFields},
    {144, kAnyVersion, kVerboseMethodFields},
    {145, kAnyVersion,
     "MethodID:x8 ModuleID:x8 MethodToken:x4 MethodILSize:u4 MethodNamespace:s "
     "MethodName:s MethodSignature:s @1 ClrInstanceID:u2"},
    {146, kAnyVersion,
     "MethodID:x8 ModuleID:x8 JitHotCodeRequestSize:u8 JitRODataRequestSize:u8 "
     "AllocatedSizeForJitCode:u8 JitAllocFlag:x4 ClrInstanceID:u2"},
    {149, kAnyVersion, kModuleFields},
    {150, kAnyVersion, kModuleFields},
    {151, kAnyVersion, kDomainModuleFields},
    {152, kAnyVersion, kModuleFields},
    {153, kAnyVersion, kModuleFields},
    {154, 0, kFirstAssemblyFields},
    {154, kAnyVersion, kAssemblyFields},
    {155, 0, kFirstAssemblyFields},
    {155, kAnyVersion, kAssemblyFields},
    {156, kAnyVersion, kDomainFields},
    {157, kAnyVersion, kDomainFields},
    {158, kAnyVersion, kRangeFields},
    {159, kAnyVersion,
     "MethodID:x8 MethodNamespace:s MethodName:s MethodSignature:s EntryPoint:x8 "
     "ClrInstanceID:u2"},
    {160, kAnyVersion, "MethodID:x8 ClrInstanceID:u2"},
    {181, kAnyVersion,
     "VerificationFlags:x4 ErrorCode:x4 FullyQualifiedAssemblyName:s @1 ClrInstanceID:u2"},
    {182, kAnyVersion,
     "VerificationFlags:x4 ErrorCode:x4 FullyQualifiedAssemblyName:s @1 ClrInstanceID:u2"},
    {183, kAnyVersion, "VerificationFlags:x4 ErrorCode:x4 ModulePath:s @1 ClrInstanceID:u2"},
    {184, kAnyVersion, "VerificationFlags:x4 ErrorCode:x4 ModulePath:s @1 ClrInstanceID:u2"},
    {185, kAnyVersion,
     "MethodBeingCompiledNamespace:s MethodBeingCompiledName:s "
     "MethodBeingCompiledNameSignature:s InlinerNamespace:s InlinerName:s "
     "InlinerNameSignature:s InlineeNamespace:s InlineeName:s InlineeNameSignature:s "
     "ClrInstanceID:u2"},
    {186, kAnyVersion,
     "MethodBeingCompiledNamespace:s MethodBeingCompiledName:s "
     "MethodBeingCompiledNameSignature:s InlinerNamespace:s InlinerName:s "
     "InlinerNameSignature:s InlineeNamespace:s InlineeName:s InlineeNameSignature:s "
     "FailAlways:b FailReason:a ClrInstanceID:u2"},
    {187, kAnyVersion, kRuntimeFields},
    {188, kAnyVersion,
     "MethodBeingCompiledNamespace:s MethodBeingCompiledName:s "
     "MethodBeingCompiledNameSignature:s CallerNamespace:s CallerName:s "
     "CallerNameSignature:s CalleeNamespace:s CalleeName:s CalleeNameSignature:s "
     "TailPrefix:b TailCallType:u4 ClrInstanceID:u2"},
    {189, kAnyVersion,
     "MethodBeingCompiledNamespace:s MethodBeingCompiledName:s "
     "MethodBeingCompiledNameSignature:s CallerNamespace:s CallerName:s "
     "CallerNameSignature:s CalleeNamespace:s CalleeName:s CalleeNameSignature:s "
     "TailPrefix:b FailReason:a ClrInstanceID:u2"},
    {190, kAnyVersion, kMapFields},
    {191, kAnyVersion,
     "MethodBeingCompiledNamespace:s MethodBeingCompiledName:s "
     "MethodBeingCompiledNameSignature:s CallerNamespace:s CallerName:s "
     "CallerNameSignature:s CalleeNamespace:s CalleeName:s CalleeNameSignature:s "
     "TailPrefix:b FailReason:s ClrInstanceID:u2"},
    {192, kAnyVersion,
     "MethodBeingCompiledNamespace:s MethodBeingCompiledName:s "
     "MethodBeingCompiledNameSignature:s InlinerNamespace:s InlinerName:s "
     "InlinerNameSignature:s InlineeNamespace:s InlineeName:s InlineeNameSignature:s "
     "FailAlways:b FailReason:s ClrInstanceID:u2"},
    {200, kAnyVersion, "BytesAllocated:u8 ClrInstanceID:u2"},
    {201, kAnyVersion, "BytesFreed:u8 ClrInstanceID:u2"},
    {202, kAnyVersion, "HeapNum:u4 ClrInstanceID:u2 Type:u4 Bytes:u8"},
    {203, kAnyVersion, "Heap:u4 JoinTime:u4 JoinType:u4 ClrInstanceID:u2 JoinID:u4"},
    {204, kAnyVersion,
     "ClrInstanceID:u2 FreeListAllocated:p FreeListRejected:p EndOfSegAllocated:p "
     "CondemnedAllocated:p PinnedAllocated:p PinnedAllocatedAdvance:p "
     "RunningFreeListEfficiency:u4 CondemnReasons0:x4 CondemnReasons1:x4 "
     "CompactMechanisms:x4 ExpandMechanisms:x4 HeapIndex:u4 ExtraGen0Commit:p Count:u4 "
     "Values[Count]{SizeBefore:p FreeListBefore:p FreeObjBefore:p SizeAfter:p "
     "FreeListAfter:p FreeObjAfter:p In:p PinnedSurv:p NonePinnedSurv:p NewAllocation:p}"},
    {205, kAnyVersion,
     "FinalYoungestDesired:u8 NumHeaps:i4 CondemnedGeneration:u4 Gen0ReductionCount:u4 "
     "Reason:u4 GlobalMechanisms:x4 @1 ClrInstanceID:u2 @2 PauseMode:u4 MemoryPressure:u4 "
     "@3 CondemnReasons0:x4 CondemnReasons1:x4 @4 Count:u4 Values[Count]{Time:u4}"},
    {206, kAnyVersion, "Count:u4 ClrInstanceID:u2"},
    {207, kAnyVersion, "Count:u4 ClrInstanceID:u2"},
    {208, kAnyVersion,
     "ClrInstanceID:u2 Count:u2 Values[Count]{TimePlan:u4 TimeCompact:u4 TimeRelocate:u4 "
     "TotalRefs:p ZeroRefs:p}"},
    {209, kAnyVersion,
     "ClrInstanceID:u2 BucketKind:u2 TotalSize:u8 Count:u2 Values[Count]{Index:u2 Count:u4 "
     "Size:p}"},
    {250, kAnyVersion, kHandlerFields},
    {252, kAnyVersion, kHandlerFields},
    {254, kAnyVersion, kHandlerFields},
    {260, kAnyVersion, kCodeFields},
    {270, kAnyVersion, "EventID:i4 EventName:s EventSourceName:s Payload:s"},
    {280, kAnyVersion, kTieringFields},
    {281, kAnyVersion, "ClrInstanceID:u2"},
    {282, kAnyVersion, "ClrInstanceID:u2 NewMethodCount:u4"},
    {283, kAnyVersion, "ClrInstanceID:u2 PendingMethodCount:u4"},
    {284, kAnyVersion, "ClrInstanceID:u2 PendingMethodCount:u4 JittedMethodCount:u4"},
    {290, kAnyVersion,
     "ClrInstanceID:u2 AssemblyName:s AssemblyPath:s RequestingAssembly:s "
     "AssemblyLoadContext:s RequestingAssemblyLoadContext:s"},
    {291, kAnyVersion,
     "ClrInstanceID:u2 AssemblyName:s AssemblyPath:s RequestingAssembly:s "
     "AssemblyLoadContext:s RequestingAssemblyLoadContext:s Success:b ResultAssemblyName:s "
     "ResultAssemblyPath:s Cached:b"},
    {292, kAnyVersion,
     "ClrInstanceID:u2 AssemblyName:s Stage:u2 AssemblyLoadContext:s Result:u2 "
     "ResultAssemblyName:s ResultAssemblyPath:s ErrorMessage:s"},
    {293, kAnyVersion,
     "ClrInstanceID:u2 AssemblyName:s HandlerName:s AssemblyLoadContext:s "
     "ResultAssemblyName:s ResultAssemblyPath:s"},
    {294, kAnyVersion,
     "ClrInstanceID:u2 AssemblyName:s HandlerName:s ResultAssemblyName:s "
     "ResultAssemblyPath:s"},
    {295, kAnyVersion,
     "ClrInstanceID:u2 AssemblyName:s IsTrackedLoad:b RequestingAssemblyPath:s "
     "ComputedRequestedAssemblyPath:s"},
    {296, kAnyVersion, "ClrInstanceID:u2 FilePath:s Source:u2 Result:i4"},
    {297, kAnyVersion, "ClrInstanceID:u2 MethodFlags:x4 DataSize:u4 MethodID:x8 Data[DataSize]:d"},
    {298, kAnyVersion,
     "ClrInstanceID:u2 MethodFlags:x4 DataSize:u4 MethodID:x8 ModuleID:x8 MethodToken:x4 "
     "MethodNamespace:s MethodName:s MethodSignature:s Data[DataSize]:d"},
    {299, kAnyVersion, "ClrInstanceID:u2 Message:s"},
    {300, kAnyVersion, kCheckpointFields},
    {301, kAnyVersion, "WaitSource:u1 AssociatedObjectID:p ClrInstanceID:u2"},
    {302, kAnyVersion, "ClrInstanceID:u2"},
    {303, kAnyVersion,
     "AllocationKind:u4 ClrInstanceID:u2 TypeID:p TypeName:s Address:p ObjectSize:u8 "
     "SampledByteOffset:u8"},
};
constexpr EventFields kRundownFieldRows[] = {
    {0, kAnyVersion,
     "ClrInstanceID:u2 Reserved1:u1 Reserved2:u1 FrameCount:u4 Stack[FrameCount]:p"},
    {10, kAnyVersion,
     "HardLimit:u8 LOHThreshold:u8 PhysicalMemoryConfig:u8 Gen0MinBudgetConfig:u8 "
     "Gen0MaxBudgetConfig:u8 HighMemPercentConfig:u4 BitSettings:x4 ClrInstanceID:u2"},
    {141, kAnyVersion, kMethodFields},
    {142, kAnyVersion, kMethodFields},
    {143, kAnyVersion, kVerboseMethodFields},
    {144, kAnyVersion, kVerboseMethodFields},
    {145, kAnyVersion, kNoFields},
    {146, kAnyVersion, kNoFields},
    {147, kAnyVersion, kNoFields},
    {148, kAnyVersion, kNoFields},
    {149, kAnyVersion, kMapFields},
    {150, kAnyVersion, kMapFields},
    {151, kAnyVersion, kDomainModuleFields},
    {152, kAnyVersion, kDomainModuleFields},
    {153, kAnyVersion, kModuleFields},
    {154, kAnyVersion, kModuleFields},
    {155, 0, kFirstAssemblyFields},
    {155, kAnyVersion, kAssemblyFields},
    {156, 0, kFirstAssemblyFields},
    {156, kAnyVersion, kAssemblyFields},
    {157, kAnyVersion, kDomainFields},
    {158, kAnyVersion, kDomainFields},
    {159, kAnyVersion, kThreadFields},
    {187, kAnyVersion, kRuntimeFields},
    {188, kAnyVersion, kCodeFields},
    {200, kAnyVersion, kRangeFields},
    {201, kAnyVersion, kRangeFields},
    {280, kAnyVersion, kTieringFields},
    {300, kAnyVersion, kCheckpointFields},
};
// Makes fields of a row's text.
class FieldReader {
 public:
  FieldReader(std::string_view text, unsigned version) : rest_(text), version_(version) {}

  PayloadSchema fields() {
    PayloadSchema schema;
    while (!rest_.empty() && rest_.front() != '}') {
      if (rest_.front() == ' ') {
        rest_.remove_prefix(1);
      } else if (rest_.front() == '@') {
        const bool is_older = static_cast<unsigned>(rest_[1] - '0') > version_;
        rest_.remove_prefix(2);
        if (is_older) {
          break;
        }
      } else {
        schema.push_back(field());
      }
    }
    return schema;
  }

 private:
  std::string_view take_until(std::string_view ends) {
    const std::string_view taken = rest_.substr(0, rest_.find_first_of(ends));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  // The one of this name, which came before; fields of a list may count on another one.
  std::uint16_t slot_of(std::string_view name) {
    const auto known = std::find(slots_.begin(), slots_.end(), name);
    return known == slots_.end() ? PayloadField::kNoSlot
                                 : static_cast<std::uint16_t>(known - slots_.begin());
  }

  PayloadField field() {
    PayloadField field;
    field.name = take_until(":[");
    std::uint16_t counted_by = PayloadField::kNoSlot;
    if (!rest_.empty() && rest_.front() == '[') {
      rest_.remove_prefix(1);
      counted_by = slot_of(take_until("]"));
      rest_.remove_prefix(1);
    }
    if (!rest_.empty() && rest_.front() == '{') {
      rest_.remove_prefix(1);
      field.type = PayloadType::kStruct;
      field.members = fields();
      rest_.remove_prefix(1);
    } else {
      rest_.remove_prefix(1);
      set_type(take_until(" }"), field);
    }
    if (counted_by != PayloadField::kNoSlot) {
      const bool is_blob = field.type == PayloadType::kBytes;
      (is_blob ? field.length : field.count) = PayloadExtent::kField;
      (is_blob ? field.length_number : field.count_number) = counted_by;
    } else if (field.type == PayloadType::kUnsigned) {
      field.slot = static_cast<std::uint16_t>(slots_.size());
      slots_.push_back(field.name);
    }
    return field;
  }

  static void set_type(std::string_view code, PayloadField& field) {
    field.size = code.size() > 1 ? static_cast<std::uint8_t>(code[1] - '0') : std::uint8_t{0};
    switch (code.front()) {
      case 'i':
        field.type = PayloadType::kSigned;
        return;
      case 'x':
        field.type = PayloadType::kHex;
        return;
      case 'p':
        field.type = PayloadType::kPointer;
        return;
      case 's':
        field.type = PayloadType::kText16;
        return;
      case 'a':
        field.type = PayloadType::kText8;
        return;
      case 'g':
        field.type = PayloadType::kGuid;
        field.size = 16;
        return;
      case 'b':
        field.type = PayloadType::kBool;
        field.size = 4;
        return;
      case 'd':
        field.type = field.size == 0 ? PayloadType::kBytes : PayloadType::kReal;
        return;
      default:
        field.type = PayloadType::kUnsigned;
        return;
    }
  }

  std::string_view rest_;
  unsigned version_;
  std::vector<std::string> slots_;
};

}  // namespace

capture::PayloadSchema event_fields(Provider provider, std::uint32_t id,
                                    std::optional<unsigned> version) {
  const std::span<const EventFields> rows =
      provider == Provider::kRuntime   ? std::span<const EventFields>(kRuntimeFieldRows)
      : provider == Provider::kRundown ? std::span<const EventFields>(kRundownFieldRows)
                                       : std::span<const EventFields>();
  const unsigned wanted = version.value_or(kAnyVersion);
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const EventFields& row) {
    return row.id == id && wanted <= row.last_version;
  });
  return found == rows.end() ? PayloadSchema() : FieldReader(found->fields, wanted).fields();
}

}  // namespace stackpack::dotnet
