#include "formats/etl/event/provider_names.h"

namespace stackpack::etl {

namespace {

struct NamedProvider {
  Guid guid;
  std::string_view name;
};

constexpr NamedProvider kProviders[] = {
    // .NET
    {make_guid(0xe13c0d23, 0xccbc, 0x4e12, 0x931b, 0xd9cc2eee27e4),
     "Microsoft-Windows-DotNETRuntime"},
    {make_guid(0xa669021c, 0xc450, 0x4609, 0xa035, 0x5af59af4df18),
     "Microsoft-Windows-DotNETRuntimeRundown"},
    {make_guid(0x763fd754, 0x7086, 0x4dfe, 0x95eb, 0xc01a46faf4ca),
     "Microsoft-Windows-DotNETRuntimePrivate"},
    {make_guid(0xcc2bcbba, 0x16b6, 0x4cf3, 0x8990, 0xd74c2e8af500),
     "Microsoft-Windows-DotNETRuntimeStress"},
    {make_guid(0x2e5dba47, 0xa3d2, 0x4d16, 0x8ee0, 0x6671ffdcd7b5),
     "System.Threading.Tasks.TplEventSource"},
    {make_guid(0x8e9f5090, 0x2d75, 0x4d03, 0x8a81, 0xe5afbf85daf1),
     "System.Diagnostics.Eventing.FrameworkEventSource"},
    {make_guid(0xaff081fe, 0x0247, 0x4275, 0x9c4e, 0x021f3dc1da35), "ASP.NET"},
    // The kernel and its neighbours
    {make_guid(0xa68ca8b7, 0x004f, 0xd7b6, 0xa698, 0x07e2de0f1f5d),
     "Microsoft-Windows-Kernel-General"},
    {make_guid(0xb675ec37, 0xbdb6, 0x4648, 0xbc92, 0xf3fdc74d3ca2),
     "Microsoft-Windows-Kernel-EventTracing"},
    {make_guid(0x22fb2cd6, 0x0e7b, 0x422b, 0xa0c7, 0x2fad1fd0e716),
     "Microsoft-Windows-Kernel-Process"},
    {make_guid(0xd1d93ef7, 0xe1f2, 0x4f45, 0x9943, 0x03d245fe6c00),
     "Microsoft-Windows-Kernel-Memory"},
    {make_guid(0xedd08927, 0x9cc4, 0x4e65, 0xb970, 0xc2560fb5c289),
     "Microsoft-Windows-Kernel-File"},
    {make_guid(0xc7bde69a, 0xe1e0, 0x4177, 0xb6ef, 0x283ad1525271),
     "Microsoft-Windows-Kernel-Disk"},
    {make_guid(0x7dd42a49, 0x5329, 0x4832, 0x8dfd, 0x43d979153a88),
     "Microsoft-Windows-Kernel-Network"},
    {make_guid(0x70eb4f03, 0xc1de, 0x4f73, 0xa051, 0x33d13d5413bd),
     "Microsoft-Windows-Kernel-Registry"},
    {make_guid(0x331c3b3a, 0x2005, 0x44c2, 0xac5e, 0x77220c37d6b4),
     "Microsoft-Windows-Kernel-Power"},
    {make_guid(0x0f67e49f, 0xfe51, 0x4e9f, 0xb490, 0x6f2948cc6027),
     "Microsoft-Windows-Kernel-Processor-Power"},
    {make_guid(0x9c205a39, 0x1250, 0x487d, 0xabd7, 0xe831c6290539), "Microsoft-Windows-Kernel-PnP"},
    // Graphics and the desktop
    {make_guid(0x802ec45a, 0x1e99, 0x4b83, 0x9920, 0x87c98277ba9d), "Microsoft-Windows-DxgKrnl"},
    {make_guid(0xca11c036, 0x0102, 0x4a2d, 0xa6ad, 0xf03cfed5d3c9), "Microsoft-Windows-DXGI"},
    {make_guid(0xdb6f6ddb, 0xac77, 0x4e88, 0x8253, 0x819df9bbf140), "Microsoft-Windows-Direct3D11"},
    {make_guid(0x9e9bba3c, 0x2e38, 0x40cb, 0x99f4, 0x9e8281425164), "Microsoft-Windows-Dwm-Core"},
    {make_guid(0x8c416c79, 0xd49b, 0x4f01, 0xa467, 0xe56d3aa8234c), "Microsoft-Windows-Win32k"},
    {make_guid(0x531a35ab, 0x63ce, 0x4bcf, 0xaa98, 0xf88c7a89e455), "Microsoft-Windows-XAML"},
    {make_guid(0x30336ed4, 0xe327, 0x447c, 0x9de0, 0x51b652c86108), "Microsoft-Windows-Shell-Core"},
    // Network
    {make_guid(0x2f07e2ee, 0x15db, 0x40f1, 0x90ef, 0x9d7ba282188a), "Microsoft-Windows-TCPIP"},
    {make_guid(0xe53c6823, 0x7bb8, 0x44bb, 0x90dc, 0x3f86090d48a6),
     "Microsoft-Windows-Winsock-AFD"},
    {make_guid(0x1c95126e, 0x7eea, 0x49a9, 0xa3fe, 0xa378b03ddb4d), "Microsoft-Windows-DNS-Client"},
    {make_guid(0x43d1a55c, 0x76d6, 0x4f7e, 0x995c, 0x64c711e5cafe), "Microsoft-Windows-WinINet"},
    {make_guid(0x7d44233d, 0x3055, 0x4b9c, 0xba64, 0x0d47ca40a232), "Microsoft-Windows-WinHttp"},
    {make_guid(0xdd5ef90a, 0x6398, 0x47a4, 0xad34, 0x4dcecdef795f),
     "Microsoft-Windows-HttpService"},
    // Services
    {make_guid(0x6ad52b32, 0xd609, 0x4be9, 0xae07, 0xce8dae937e39), "Microsoft-Windows-RPC"},
    {make_guid(0xde7b24ea, 0x73c8, 0x4a09, 0x985d, 0x5bdadcfa9017),
     "Microsoft-Windows-TaskScheduler"},
    {make_guid(0x1418ef04, 0xb0b4, 0x4623, 0xbf7e, 0xd74ab47bbdaa),
     "Microsoft-Windows-WMI-Activity"},
    {make_guid(0xa0c1853b, 0x5c40, 0x4b15, 0x8766, 0x3cf1c58f985a), "Microsoft-Windows-PowerShell"},
    {make_guid(0x54849625, 0x5478, 0x4994, 0xa5ba, 0x3e3b0328c30d),
     "Microsoft-Windows-Security-Auditing"},
    {make_guid(0x2a576b87, 0x09a7, 0x520e, 0xc21a, 0x4942f0271d67),
     "Microsoft-Antimalware-Scan-Interface"},
};

}  // namespace

std::string_view provider_name(const Guid& guid) {
  for (const NamedProvider& provider : kProviders) {
    if (provider.guid == guid) {
      return provider.name;
    }
  }
  return {};
}

}  // namespace stackpack::etl
